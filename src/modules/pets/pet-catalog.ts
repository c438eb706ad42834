import { Injectable } from '@nestjs/common';
import { type Transaction, int8ToNumber, prepared } from '#libs/database';
import { Pet } from './pet.entity';
import type { PetStatus } from './pet-status';

const LOCK = {
  name: 'pet-lock',
  text: `SELECT status FROM pets WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`,
};

/** A pet that somebody else has locked is passed over, so that nobody waits, and no two wait for each other. */
const LOCK_AVAILABLE = {
  name: 'pets-lock-available',
  text: `SELECT id FROM pets WHERE id = ANY($1) AND status = 'available' AND deleted_at IS NULL FOR UPDATE SKIP LOCKED`,
};

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
    const [pet] = await prepared<Pick<LockedPet, 'status'>>(transaction, LOCK, [petId]);
    return pet ? { id: petId, status: pet.status } : null;
  }

  /** Locks, like `lock`, those of the pets that are available and not locked by anybody else; tells which they are. */
  async lockAvailable(transaction: Transaction, petIds: number[]): Promise<Set<number>> {
    const pets = await prepared<{ id: string }>(transaction, LOCK_AVAILABLE, [petIds]);
    return new Set(pets.map(({ id }) => int8ToNumber(id)));
  }

  /** Follows from what happened to the pet's stock or orders, so the rule for changes by hand does not apply. */
  async setStatus(transaction: Transaction, pet: LockedPet, status: PetStatus): Promise<void> {
    if (pet.status !== status) {
      await transaction.update(Pet, { id: pet.id }, { status });
      pet.status = status;
    }
  }
}
