import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database, type Transaction } from '#libs/database';
import type { Precondition } from '#libs/http';
import { StockReservations } from '../inventory';
import { type LockedPet, PetCatalog } from '../pets';
import { OpenOrders } from './open-orders';
import { Order, statusOf } from './order.entity';
import { mayBecome, petStatusAfterCancelling, petStatusAfterCompleting } from './order-status';
import { type OrderPatchDto, toOrderDto } from './orders.dto';
import { OrderAlreadyCompleteError, OrderNotFoundError } from './orders.errors';

interface LockedOrder {
  order: Order;
  /** Null when the pet was deleted since; only a complete order can outlive its pet. */
  pet: LockedPet | null;
}

/** Completes, reschedules or cancels an order, and moves stock and the pet's status along, in one transaction. */
@Injectable()
export class ChangeOrder {
  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly stock: StockReservations,
    private readonly openOrders: OpenOrders,
  ) {}

  update(id: number, patch: OrderPatchDto, precondition: Precondition): Promise<Order> {
    return this.database.transaction(async (transaction) => {
      const { order, pet } = await this.lock(transaction, id, precondition);
      const { complete = order.complete } = patch;
      if (!mayBecome(statusOf(order), complete ? 'complete' : 'open')) {
        throw new OrderAlreadyCompleteError(id);
      }
      const completes = complete && !order.complete;
      const changed: Order = { ...order, complete, shipDate: shipDateAfter(order, patch) };
      await transaction.update(Order, { id }, { complete, shipDate: changed.shipDate });
      if (completes && pet) {
        await this.afterCompleting(transaction, pet);
      }
      return changed;
    });
  }

  cancel(id: number, precondition: Precondition): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const { order, pet } = await this.lock(transaction, id, precondition);
      if (!mayBecome(statusOf(order), 'cancelled')) {
        throw new OrderAlreadyCompleteError(id);
      }
      await transaction.update(Order, { id }, { cancelledAt: () => 'now()' });
      await this.stock.giveBack(transaction, order.petId, order.quantity);
      if (pet) {
        await this.pets.setStatus(transaction, pet, petStatusAfterCancelling(pet.status));
      }
    });
  }

  private async afterCompleting(transaction: Transaction, pet: LockedPet): Promise<void> {
    const remainder = {
      stock: await this.stock.left(transaction, pet.id),
      openOrders: await this.openOrders.exist(transaction, pet.id),
    };
    await this.pets.setStatus(transaction, pet, petStatusAfterCompleting(pet.status, remainder));
  }

  /** Everybody locks the pet first and the order after it, so that no two wait for each other. */
  private async lock(transaction: Transaction, id: number, precondition: Precondition): Promise<LockedOrder> {
    const { petId } = found(await transaction.findOneBy(Order, { id, cancelledAt: IsNull() }), id);
    const pet = await this.pets.lock(transaction, petId);
    const where = { id, cancelledAt: IsNull() };
    const lock = { mode: 'pessimistic_write' } as const;
    const order = found(await transaction.findOne(Order, { where, lock }), id);
    precondition.assertHolds(toOrderDto(order));
    return { order, pet };
  }
}

function found(order: Order | null, id: number): Order {
  if (!order) {
    throw new OrderNotFoundError(id);
  }
  return order;
}

function shipDateAfter(order: Order, { shipDate }: OrderPatchDto): Date | null {
  if (shipDate === undefined) {
    return order.shipDate;
  }
  return shipDate === null ? null : new Date(shipDate.toUpperCase());
}
