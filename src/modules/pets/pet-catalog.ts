import type { Need, State } from '#libs/database';
import { Pet } from './pet.entity';
import type { PetStatus } from './pet-status';

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
