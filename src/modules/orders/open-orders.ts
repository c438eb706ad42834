import { Injectable, type OnModuleInit } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Transaction } from '#libs/database';
import { PetHasOpenOrdersError, PetLifecycle, type PetLifecycleListener } from '../pets';
import { Order } from './order.entity';

/** Orders of a pet that wait to be fulfilled. They speak against the pet's deletion. */
@Injectable()
export class OpenOrders implements OnModuleInit, PetLifecycleListener {
  constructor(private readonly lifecycle: PetLifecycle) {}

  onModuleInit(): void {
    this.lifecycle.join(this);
  }

  exist(transaction: Transaction, petId: number): Promise<boolean> {
    return transaction.existsBy(Order, { petId, complete: false, cancelledAt: IsNull() });
  }

  async petDeleting(transaction: Transaction, petId: number): Promise<void> {
    if (await this.exist(transaction, petId)) {
      throw new PetHasOpenOrdersError(petId);
    }
  }
}
