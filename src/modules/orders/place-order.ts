import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#libs/database';
import { StockReservations } from '../inventory';
import { type LockedPet, PetCatalog } from '../pets';
import { insertOrders } from './insert-orders';
import type { Order } from './order.entity';
import { OpenOrders } from './open-orders';
import { petStatusAfterCompleting, petStatusAfterPlacing } from './order-status';
import type { NewOrderDto } from './orders.dto';
import { PetNotAvailableError, UnknownPetError } from './orders.errors';
import { PlaceTogether } from './place-together';

/** Places an order: takes the stock at once and moves the pet's status along, in one transaction. */
@Injectable()
export class PlaceOrder {
  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly stock: StockReservations,
    private readonly openOrders: OpenOrders,
    private readonly together: PlaceTogether,
  ) {}

  async run(body: NewOrderDto, outer?: Transaction): Promise<Order> {
    const placed = outer ? null : await this.together.place(body);
    return placed ?? this.database.transaction((transaction) => this.place(transaction, body), outer);
  }

  private async place(transaction: Transaction, body: NewOrderDto): Promise<Order> {
    const pet = await this.availablePet(transaction, body.petId);
    const left = await this.stock.take(transaction, pet.id, body.quantity ?? 1);
    await this.pets.setStatus(transaction, pet, petStatusAfterPlacing(pet.status, { stock: left }));
    const [order] = await insertOrders(transaction, [body]);
    if (order!.complete) {
      const remainder = { stock: left, openOrders: await this.openOrders.exist(transaction, pet.id) };
      await this.pets.setStatus(transaction, pet, petStatusAfterCompleting(pet.status, remainder));
    }
    return order!;
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
}
