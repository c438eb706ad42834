import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Transaction } from '#libs/database';
import { Pet } from './pet.entity';
import type { PetStatus } from './pet-status';

/** A pet whose row is locked until the transaction ends. */
export interface LockedPet {
  id: number;
  status: PetStatus;
}

/** What other modules may do with pets. The pet's lock is what makes stock, orders and status change as one. */
@Injectable()
export class PetCatalog {
  /** Locks the pet against every other change of it, of its stock and of its orders; null when there is no such pet. */
  async lock(transaction: Transaction, petId: number): Promise<LockedPet | null> {
    const pet = await transaction.findOne(Pet, {
      select: { id: true, status: true },
      where: { id: petId, deletedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
    return pet && { id: pet.id, status: pet.status };
  }

  /** Follows from what happened to the pet's stock or orders, so the rule for changes by hand does not apply. */
  async setStatus(transaction: Transaction, pet: LockedPet, status: PetStatus): Promise<void> {
    if (pet.status !== status) {
      await transaction.update(Pet, { id: pet.id }, { status });
      pet.status = status;
    }
  }
}
