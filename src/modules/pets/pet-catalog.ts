import { columnNames, type Need, numberRows, type State, type Transaction } from '#libs/database';
import { type PetStatus, type StockChange, statusAfter } from './pet-status';
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

  /** All pets that are not deleted, as a query to build on. */
  all: `SELECT id, category_id, ${COLUMNS} FROM pets WHERE deleted_at IS NULL`,

  /**
   * Inserts the rows of a query (columns as valid as in `NewPetDto`, and `category_id`; more are allowed) in order. Keeps them in
   * a temporary table of this name, with their new `id`. The caller inserts their stock.
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

/** The modules that depend on pets, as far as the commands of pets need them. The assembly names them. */
export abstract class PetDependents {
  abstract readonly stock: {
    load(petId: number): Need;
    left(state: State, petId: number): number;
    /** Each new pet gets its stock. */
    create(state: State, pet: KnownPet): void;
  };
  abstract readonly openOrders: {
    count(petId: number): Need;
    exist(state: State, petId: number): boolean;
  };
}
