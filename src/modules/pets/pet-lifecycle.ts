import { Injectable } from '@nestjs/common';
import type { Need, State } from '#libs/commands';
import type { KnownPet } from './pet-catalog';

/** What the life of a pet means to another module. Called while the pet's own command decides; an error refuses it. */
export interface PetLifecycleListener {
  petCreated?(state: State, pet: KnownPet): void;
  /** What `petDeleting` needs to know. */
  deletionNeeds?(petId: number): Need[];
  /** Throws what speaks against the deletion. */
  petDeleting?(state: State, petId: number): void;
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

  created(state: State, pet: KnownPet): void {
    this.listeners.forEach((listener) => listener.petCreated?.(state, pet));
  }

  deletionNeeds(petId: number): Need[] {
    return this.listeners.flatMap((listener) => listener.deletionNeeds?.(petId) ?? []);
  }

  deleting(state: State, petId: number): void {
    this.listeners.forEach((listener) => listener.petDeleting?.(state, petId));
  }
}
