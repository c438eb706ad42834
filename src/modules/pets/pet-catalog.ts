import type { Need, State } from '#libs/database';
import { type PetStatus, type StockChange, statusAfter } from './pet-status';
import { Pet } from './pet.entity';

/** What other modules may see of a pet. */
export type KnownPet = Readonly<Pick<Pet, 'id' | 'status'>>;

/** The operations on pets that other modules may use in their commands. */
export const PetCatalog = {
  /** Locks the pet, its stock and its orders against other changes, which keeps them consistent. */
  lock: (id: number): Need => ({ row: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  find: (state: State, id: number): KnownPet | null => findPet(state, id),

  /** For every change of the stock or of an order. @returns the status that follows from it: `statusAfter` */
  followStock(state: State, id: number, change: StockChange, hasOpenOrders: () => boolean): PetStatus {
    const pet = state.find(Pet, id)!;
    const status = statusAfter(pet.status, change, hasOpenOrders);
    state.update(Pet, id, { ...pet, status });
    return status;
  },

  /** The pets whose status the command has changed. */
  withNewStatus: (state: State): KnownPet[] =>
    state
      .changesOf(Pet)
      .flatMap(({ before, after }) => (before !== null && before.status !== after!.status ? after! : [])),
};

export function findPet(state: State, id: number): Pet | null {
  const pet = state.find(Pet, id);
  return pet?.deletedAt === null ? pet : null;
}

/** The modules that depend on pets, as far as the commands of pets need them. The assembly names them. */
export abstract class PetDependents {
  abstract readonly stock: {
    load(petId: number): Need;
    left(state: State, petId: number): number;
    /** Each new pet gets its stock. */
    create(state: State, pet: KnownPet, quantity?: number): void;
  };
  abstract readonly openOrders: {
    count(petId: number): Need;
    exist(state: State, petId: number): boolean;
  };
}
