import { Injectable } from '@nestjs/common';
import type { Need, State } from '#libs/database';
import type { PetStatus } from './pet-status';
import { Pet } from './pet.entity';

/** What other modules may see of a pet. */
export type KnownPet = Readonly<Pick<Pet, 'id' | 'status'>>;

/** The operations on pets that commands of other modules may use. The pet's lock keeps stock, orders and status consistent. */
export const PetCatalog = {
  /** Locks the pet, its stock and its orders against other changes. */
  lock: (id: number): Need => ({ row: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  find: (state: State, id: number): KnownPet | null => findPet(state, id),

  /** For changes that follow from stock or orders, so the rule for manual changes does not apply. */
  setStatus: (state: State, id: number, status: PetStatus): void => {
    state.update(Pet, id, { ...state.find(Pet, id)!, status });
  },
};

export function findPet(state: State, id: number): Pet | null {
  const pet = state.find(Pet, id);
  return pet?.deletedAt === null ? pet : null;
}

/** How another module takes part in a pet's lifecycle. Called within the pet's command; an error rejects the command. */
export interface PetLifecycleListener {
  petCreated?(state: State, pet: KnownPet): void;
  /** The data that `statusChanged` needs. */
  statusNeeds?(petId: number): Need[];
  /** Called after the command, with the changed status. */
  statusChanged?(state: State, pet: KnownPet): void;
  /** The data that `petDeleting` needs. */
  deletionNeeds?(petId: number): Need[];
  /** Throws an error to prevent the deletion. */
  petDeleting?(state: State, petId: number): void;
}

/**
 * Lets modules that depend on pets take part in a pet's creation, change of status and deletion. They register when the application
 * starts.
 */
@Injectable()
export class PetLifecycle {
  private readonly listeners: PetLifecycleListener[] = [];

  join(listener: PetLifecycleListener): void {
    this.listeners.push(listener);
  }

  created(state: State, pet: KnownPet): void {
    this.listeners.forEach((listener) => listener.petCreated?.(state, pet));
  }

  statusNeeds(petId: number): Need[] {
    return this.listeners.flatMap((listener) => listener.statusNeeds?.(petId) ?? []);
  }

  statusChanged(state: State, pet: KnownPet): void {
    this.listeners.forEach((listener) => listener.statusChanged?.(state, pet));
  }

  deletionNeeds(petId: number): Need[] {
    return this.listeners.flatMap((listener) => listener.deletionNeeds?.(petId) ?? []);
  }

  deleting(state: State, petId: number): void {
    this.listeners.forEach((listener) => listener.petDeleting?.(state, petId));
  }
}
