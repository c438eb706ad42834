import { Injectable } from '@nestjs/common';
import { columnNames, type Need, numberRows, type State, type Transaction } from '#libs/database';
import type { PetStatus } from './pet-status';
import { Pet } from './pet.entity';

/** What other modules may see of a pet. */
export type KnownPet = Readonly<Pick<Pet, 'id' | 'status'>>;

/** Columns that are copied unchanged, with their types; the store assigns the id and resolves the category. */
export const PET_COLUMNS = 'name text, status text';
const COLUMNS = columnNames(PET_COLUMNS);

/** The operations on pets that other modules may use: in commands, and for imports and exports. */
export const PetCatalog = {
  /** Locks the pet, its stock and its orders against other changes, which keeps them consistent. */
  lock: (id: number): Need => ({ row: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  find: (state: State, id: number): KnownPet | null => findPet(state, id),

  /** For changes that follow from stock or orders, so the rule for manual changes does not apply. */
  setStatus: (state: State, id: number, status: PetStatus): void => {
    state.update(Pet, id, { ...state.find(Pet, id)!, status });
  },

  /** All pets that are not deleted, as a query to build on. */
  all: `SELECT id, category_id, ${COLUMNS} FROM pets WHERE deleted_at IS NULL`,

  /**
   * Inserts the rows of a query (columns as valid as in `NewPetDto`, and `category_id`; more are allowed) in order. Keeps them in
   * a temporary table of this name, with their new `id`. Does not call PetLifecycle: the caller inserts their stock.
   * @returns the number of rows
   */
  async insertAll(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'pets_id_seq', table });
    await transaction.query(
      // SQL, because TypeORM cannot insert what it selects.
      `INSERT INTO pets (id, category_id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, category_id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  },
};

export function findPet(state: State, id: number): Pet | null {
  const pet = state.find(Pet, id);
  return pet?.deletedAt === null ? pet : null;
}

/** How another module takes part in a pet's lifecycle. Called within the pet's command; an error rejects the command. */
export interface PetParticipant {
  created?(state: State, pet: KnownPet): void;
  /** The data that `statusChanged` needs. */
  statusNeeds?(petId: number): Need[];
  /** Called after the command, with the changed status. */
  statusChanged?(state: State, pet: KnownPet): void;
  /** The data that `deleting` needs. */
  deletionNeeds?(petId: number): Need[];
  /** Throws an error to prevent the deletion. */
  deleting?(state: State, petId: number): void;
}

/** Lets modules that depend on pets take part in a pet's creation, change of status and deletion. */
@Injectable()
export class PetLifecycle {
  private readonly participants: PetParticipant[] = [];

  join(participant: PetParticipant): void {
    this.participants.push(participant);
  }

  created(state: State, pet: KnownPet): void {
    this.participants.forEach((one) => one.created?.(state, pet));
  }

  statusNeeds(petId: number): Need[] {
    return this.participants.flatMap((one) => one.statusNeeds?.(petId) ?? []);
  }

  statusChanged(state: State, pet: KnownPet): void {
    this.participants.forEach((one) => one.statusChanged?.(state, pet));
  }

  deletionNeeds(petId: number): Need[] {
    return this.participants.flatMap((one) => one.deletionNeeds?.(petId) ?? []);
  }

  deleting(state: State, petId: number): void {
    this.participants.forEach((one) => one.deleting?.(state, petId));
  }
}
