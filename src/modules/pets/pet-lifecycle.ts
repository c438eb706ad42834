import { Injectable } from '@nestjs/common';
import type { Need, State } from '#libs/database';
import type { KnownPet } from './pet-catalog';

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
