import { Injectable } from '@nestjs/common';
import type { Transaction } from '#libs/database';
import type { PetStatus } from './pet-status';

/** What the life of a pet means to another module. Called in the pet's own transaction; an error undoes everything. */
export interface PetLifecycleListener {
  petCreated?(transaction: Transaction, pet: { id: number; status: PetStatus }): Promise<void>;
  /** Throws what speaks against the deletion. */
  petDeleting?(transaction: Transaction, petId: number): Promise<void>;
}

/**
 * Lets modules that know pets, and that pets must not know, take part in a pet's creation and deletion. They enter
 * themselves when the application starts.
 */
@Injectable()
export class PetLifecycle {
  private readonly listeners: PetLifecycleListener[] = [];

  join(listener: PetLifecycleListener): void {
    this.listeners.push(listener);
  }

  async created(transaction: Transaction, pet: { id: number; status: PetStatus }): Promise<void> {
    for (const listener of this.listeners) {
      await listener.petCreated?.(transaction, pet);
    }
  }

  async deleting(transaction: Transaction, petId: number): Promise<void> {
    for (const listener of this.listeners) {
      await listener.petDeleting?.(transaction, petId);
    }
  }
}
