import type { Need, State } from '#libs/commands';
import { Pet } from './pet.entity';
import type { PetStatus } from './pet-status';

/** What other modules may know of a pet. */
export type KnownPet = Readonly<Pick<Pet, 'id' | 'status'>>;

/** What other modules may do with pets in a command. The pet's lock is what makes stock, orders and status change as one. */
export const PetCatalog = {
  /** Locks the pet against every other change of it, of its stock and of its orders. */
  lock: (id: number): Need => ({ row: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  /** The pet, or null when there is none. */
  find: (state: State, id: number): KnownPet | null => findPet(state, id),

  /** Follows from what happened to the pet's stock or orders, so the rule for changes by hand does not apply. */
  setStatus: (state: State, id: number, status: PetStatus): void => {
    state.update(Pet, id, { ...state.find(Pet, id)!, status });
  },
};

export function findPet(state: State, id: number): Pet | null {
  const pet = state.find(Pet, id);
  return pet?.deletedAt === null ? pet : null;
}
