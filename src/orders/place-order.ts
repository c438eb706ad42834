import { Injectable } from '@nestjs/common';
import { Database, type Transaction, insertedId } from '#libs/database';
import { StockReservations } from '../inventory';
import { type LockedPet, PetCatalog } from '../pets';
import { Order } from './order.entity';
import { OpenOrders } from './open-orders';
import { petStatusAfterCompleting, petStatusAfterPlacing } from './order-status';
import type { NewOrderDto } from './orders.dto';
import { PetNotAvailableError, UnknownPetError } from './orders.errors';

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
        const remainder = { stock: left, openOrders: await this.openOrders.count(transaction, pet.id) };
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
    const { petId, quantity = 1, shipDate, complete = false } = body;
    const values = {
      petId,
      quantity,
      shipDate: shipDate === undefined ? null : new Date(shipDate.toUpperCase()),
      complete,
      cancelledAt: null,
    };
    const result = await transaction.insert(Order, values);
    return { ...values, id: insertedId(result) };
  }
}
