import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { State } from '#libs/database';
import { type KnownPet, PetLifecycle, type PetLifecycleListener, type PetStatus } from '../pets';
import { Stock } from './stock.entity';

/** The stock of a new pet by default. */
export const FIRST_QUANTITY: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

/** A new pet has stock. */
@Injectable()
export class FirstStock implements OnModuleInit, PetLifecycleListener {
  constructor(private readonly lifecycle: PetLifecycle) {}

  onModuleInit(): void {
    this.lifecycle.join(this);
  }

  petCreated(state: State, pet: KnownPet): void {
    state.insert(Stock, pet.id, { petId: pet.id, quantity: FIRST_QUANTITY[pet.status] });
  }
}
