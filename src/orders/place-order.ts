import { Injectable } from '@nestjs/common';
import { Database, type Transaction, int8ToNumber, prepared } from '#libs/database';
import { StockReservations } from '../inventory';
import { type LockedPet, PetCatalog } from '../pets';
import type { Order } from './order.entity';
import { OpenOrders } from './open-orders';
import { petStatusAfterCompleting, petStatusAfterPlacing } from './order-status';
import type { NewOrderDto } from './orders.dto';
import { PetNotAvailableError, UnknownPetError } from './orders.errors';

const INSERT = {
  name: 'order-insert',
  text: `INSERT INTO orders (pet_id, quantity, ship_date, complete) VALUES ($1, $2, $3, $4) RETURNING id`,
};

/** Places an order: takes the stock at once and moves the pet's status along, in one transaction. */
@Injectable()
export class PlaceOrder {
  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly stock: StockReservations,
    private readonly openOrders: OpenOrders,
  ) {}

  run(body: NewOrderDto, outer?: Transaction): Promise<Order> {
    return this.database.transaction(async (transaction) => {
      const pet = await this.availablePet(transaction, body.petId);
      const left = await this.stock.take(transaction, pet.id, body.quantity ?? 1);
      await this.pets.setStatus(transaction, pet, petStatusAfterPlacing(pet.status, { stock: left }));
      const order = await this.write(transaction, body);
      if (order.complete) {
        const remainder = { stock: left, openOrders: await this.openOrders.exist(transaction, pet.id) };
        await this.pets.setStatus(transaction, pet, petStatusAfterCompleting(pet.status, remainder));
      }
      return order;
    }, outer);
  }

  private async availablePet(transaction: Transaction, petId: number): Promise<LockedPet> {
    const pet = await this.pets.lock(transaction, petId);
    if (!pet) {
      throw new UnknownPetError(petId);
    }
    if (pet.status !== 'available') {
      throw new PetNotAvailableError(petId, pet.status);
    }
    return pet;
  }

  private async write(transaction: Transaction, body: NewOrderDto): Promise<Order> {
    const { petId, quantity = 1, complete = false } = body;
    const shipDate = body.shipDate === undefined ? null : new Date(body.shipDate.toUpperCase());
    const [row] = await prepared<{ id: string }>(transaction, INSERT, [petId, quantity, shipDate, complete]);
    return { id: int8ToNumber(row!.id), petId, quantity, shipDate, complete, cancelledAt: null };
  }
}
