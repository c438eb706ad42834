import { Injectable } from '@nestjs/common';
import {
  columnNames,
  Database,
  nameBeginsWith,
  namePrefix,
  numberRows,
  PageReader,
  type Parameter,
  type Selection,
  type Transaction,
} from '#libs/database';
import { DEFAULT_PAGE_SIZE, idBefore, MAX_PAGE_SIZE, type Page, pageOf } from '#libs/http';
import { PET_STATUSES } from './pet-status';
import { Pet } from './pet.entity';
import { type ListPetsQuery, type PetDto, PetNotFoundError, toPetDto } from './pets.dto';

/** Reads of pets; the commands that change them have their own files. */
@Injectable()
export class PetsService {
  private readonly pages: PageReader<Pet, ListPetsQuery>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, Pet, selectPets);
  }

  async get(id: number, caller?: number): Promise<PetDto> {
    const pet = await this.database.find(Pet, id, caller);
    if (pet?.deletedAt !== null) {
      throw new PetNotFoundError(id);
    }
    return toPetDto(pet);
  }

  /** With ids and without a limit, the page has all that were asked for. */
  async list(query: ListPetsQuery, caller?: number): Promise<Page<PetDto>> {
    const { id, status, categoryId, name } = query;
    const onlyIds = status === undefined && categoryId === undefined && name === undefined;
    const limit = query.limit ?? (id === undefined ? DEFAULT_PAGE_SIZE : MAX_PAGE_SIZE);
    if (id !== undefined && onlyIds) {
      return this.listById(id, idBefore(query.cursor), limit, caller);
    }
    const { entries, lastId } = await this.pages.read({ ...query, limit }, caller);
    return { entries: entries.map(toPetDto), lastId };
  }

  private async listById(
    ids: number[],
    after: number,
    limit: number,
    caller?: number,
  ): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after);
    const pets = await Promise.all(wanted.map((id) => this.database.find(Pet, id, caller)));
    const found = pets.flatMap((pet) => (pet?.deletedAt === null ? toPetDto(pet) : []));
    return pageOf(
      found.sort((a, b) => a.id - b.id),
      limit,
      ({ id }) => id,
    );
  }
}

// The filters of the pet list as SQL.

const IS_THERE = 'deleted_at IS NULL';

export function selectPets(filters: ListPetsQuery, parameter: Parameter): Selection {
  return (filters.id === undefined ? inOrder : amongIds)(filters, parameter);
}

/**
 * Reads at most one page of rows per status. With a name it may read more: the rarer the name is within the status and
 * the category, the more rows.
 */
function inOrder({ status, categoryId, name }: ListPetsQuery, parameter: Parameter): Selection {
  const conditions = [IS_THERE];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId, 'bigint')}`);
  }
  // The index on categories has the status before the id.
  const statuses = status ?? (categoryId === undefined ? undefined : PET_STATUSES);
  const parameters = statuses && [...new Set(statuses)].map((value) => parameter(value, 'text'));
  return {
    conditions,
    within: parameters && {
      column: 'status',
      sorted: categoryId === undefined ? 'ASC' : 'DESC',
      parameters,
    },
    named: name === undefined ? undefined : { prefix: name, indexed: [IS_THERE] },
  };
}

/** There are at most 100 ids, so all of these pets are read, whatever the other filters. */
function amongIds({ id, status, categoryId, name }: ListPetsQuery, parameter: Parameter): Selection {
  const conditions = [IS_THERE, `id = ANY(${parameter(id, 'bigint[]')})`];
  if (categoryId !== undefined) {
    conditions.push(`category_id = ${parameter(categoryId, 'bigint')}`);
  }
  if (status !== undefined) {
    conditions.push(`status = ANY(${parameter(status, 'text[]')})`);
  }
  if (name !== undefined) {
    conditions.push(nameBeginsWith(parameter(namePrefix(name), 'text')));
  }
  return { conditions, isUnprepared: true };
}

/** Columns that are copied unchanged, with their types; the store assigns the id and resolves the category. */
export const PET_COLUMNS = 'name text, status text';
const COLUMNS = columnNames(PET_COLUMNS);

/** Bulk operations on pets, for import and export. */
@Injectable()
export class BulkPets {
  /** All pets that are not deleted, as a query to build on. */
  readonly all = `SELECT id, category_id, ${COLUMNS} FROM pets WHERE deleted_at IS NULL`;

  /**
   * Inserts the rows of a query (columns valid by `petFields`, and `category_id`; more are allowed) in order. Keeps them in
   * a temporary table of this name, with their new `id`. Does not call PetLifecycle: the caller inserts their stock.
   * @returns the number of rows
   */
  async insert(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'pets_id_seq', table });
    await transaction.query(
      `INSERT INTO pets (id, category_id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, category_id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  }
}
