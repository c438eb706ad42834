import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  type CallerId,
  CommandExecutor,
  Database,
  type Need,
  type CommandSource,
  type PageRange,
  PageReader,
  type Select,
  type State,
} from '#libs/database';
import { MAX_PAGE_SIZE, type Page, pageMapper, pageOf, rangeOf } from '#libs/http';
import { CategoryRows } from '../categories';
import type { WrittenTable } from '../../feature';
import type { NewEvent } from '../events';
import { mayChangeByHand, PET_STATUSES, type Stock, statusAfter } from './pet-status';
import { Pet } from './pet.entity';
import {
  InvalidStatusTransitionError,
  type ListPetsQuery,
  type NewPetDto,
  type PetDto,
  PetHasOpenOrdersError,
  PetNotFoundError,
  type PetPatchDto,
  toPetDto,
  UnknownCategoryError,
} from './pets.dto';

export type PetWithStatus = Readonly<Pick<Pet, 'id' | 'status'>>;

/**
 * What this module needs to know about stock. The class is abstract, because the inventory module, which implements the
 * class, already imports this module. An import in the opposite direction would be circular.
 */
export abstract class StockOfPets {
  /**
   * Returns what a command that uses the stock of a pet declares in its `needs`: the pet and then its stock, because the
   * status of the pet follows the stock.
   */
  abstract needsOf(petId: number): Need[];
  abstract get(state: State, petId: number): Stock;
  /** @param stock units in stock; by default the initial stock of a pet with this status */
  abstract create(state: State, pet: PetWithStatus, stock?: number): void;
}

@Injectable()
export class PetsService {
  private readonly pages = new PageReader(this.database, Pet, selectPets, pageMapper(toPetDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly stock: StockOfPets,
  ) {}

  async get(id: number, callerId: CallerId): Promise<PetDto> {
    return toPetDto(existing(await this.database.find(Pet, id, callerId), id));
  }

  /** Returns a page of pets. If the query has ids but no limit, the page contains all pets with these ids. */
  async list(query: ListPetsQuery, callerId: CallerId): Promise<Page<PetDto>> {
    const { id, name, limit = id && MAX_PAGE_SIZE } = query;
    const range = rangeOf({ ...query, limit });
    // If the query has ids and no name, `listById` finds the pets by their ids and checks the other filters. If the
    // query has a name, the database has to check the filters, because only the database compares names without regard
    // to case.
    return id === undefined || name !== undefined
      ? this.pages.read(range, query, callerId)
      : this.listById(id, range, query, callerId);
  }

  create(body: NewPetDto, source: CommandSource, stock?: number): Promise<PetDto> {
    const { categoryId, status = 'available' } = body;
    return this.commands.execute(source, {
      needs: [CategoryRows.needOf(categoryId), { newId: Pet }],
      decide: (state) => {
        assertCategory(state, categoryId);
        const id = state.newId(Pet);
        const pet: Pet = { ...body, id, status, formerCategoryId: null, deletedAt: null };
        state.insert(Pet, id, pet);
        this.stock.create(state, pet, stock);
        return toPetDto(pet);
      },
    });
  }

  /** Changes the given fields, for PUT and PATCH. A PUT without `status` therefore keeps the status. */
  update(id: number, changes: PetPatchDto, source: CommandSource): Promise<PetDto> {
    const { categoryId, status } = changes;
    return this.commands.execute(source, {
      needs: [
        ...(categoryId === undefined ? [] : [CategoryRows.needOf(categoryId)]),
        ...(status === undefined ? [PetRows.needOf(id)] : this.stock.needsOf(id)),
      ],
      resource: (state) => toPetDto(findExisting(state, id)),
      decide: (state) => {
        const pet = findExisting(state, id);
        const changed: Pet = { ...pet, ...changes };
        if (status !== undefined) {
          const { stock } = this.stock.get(state, id);
          if (!mayChangeByHand({ status: pet.status, stock }, status)) {
            throw new InvalidStatusTransitionError(pet.status, status);
          }
        }
        if (categoryId !== undefined) {
          assertCategory(state, categoryId);
        }
        state.update(Pet, id, changed);
        return toPetDto(changed);
      },
    });
  }

  /** Marks a pet as deleted. Its row is kept, because orders refer to the row. */
  delete(id: number, source: CommandSource): Promise<void> {
    return this.commands.execute(source, {
      needs: this.stock.needsOf(id),
      resource: (state) => toPetDto(findExisting(state, id)),
      decide: (state) => {
        const pet = findExisting(state, id);
        if (this.stock.get(state, id).openOrders > 0) {
          throw new PetHasOpenOrdersError(id);
        }
        const gone = { deletedAt: state.now, categoryId: null, formerCategoryId: pet.categoryId };
        state.update(Pet, id, { ...pet, ...gone });
      },
    });
  }

  private async listById(
    ids: number[],
    { after, limit }: PageRange,
    { status, categoryId }: ListPetsQuery,
    callerId: CallerId,
  ): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after.id).sort((a, b) => a - b);
    const pets = await Promise.all(wanted.map((id) => this.database.find(Pet, id, callerId)));
    const found = pets
      .filter((pet) => pet?.deletedAt === null)
      .map((pet) => toPetDto(pet!))
      .filter((pet) => status?.includes(pet.status) ?? true)
      .filter((pet) => (categoryId ?? pet.categoryId) === pet.categoryId);
    return pageOf(found, limit);
  }
}

/** What a command needs to lock and load the row of a pet, and functions on rows that a command has loaded. */
export const PetRows = {
  needOf: (id: number): Need => ({ entity: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  get: (state: State, id: number): PetWithStatus => findExisting(state, id),

  find(state: State, id: number): PetWithStatus | null {
    const pet = state.find(Pet, id);
    return pet?.deletedAt === null ? pet : null;
  },

  followStock(state: State, id: number, before: Stock, after: Stock): void {
    const pet = state.find(Pet, id)!;
    const status = statusAfter({ ...before, status: pet.status }, after);
    state.update(Pet, id, { ...pet, status });
  },

  withNewStatus: (state: State): number[] =>
    state
      .changesOf(Pet)
      .flatMap(({ before, after }) => (before !== null && before.status !== after!.status ? after!.id : [])),
};

function existing(pet: Pet | null, id: number): Pet {
  if (pet?.deletedAt !== null) {
    throw new PetNotFoundError(id);
  }
  return pet;
}

function findExisting(state: State, id: number): Pet {
  return existing(state.find(Pet, id), id);
}

function assertCategory(state: State, categoryId: number): void {
  if (!CategoryRows.exists(state, categoryId)) {
    throw new UnknownCategoryError(categoryId);
  }
}

/**
 * Reports changes of pets in the event feed. A deletion is also a change of a row, because a deleted pet keeps its row
 * and gets a `deletedAt`.
 */
export const PETS_TABLE: WrittenTable = {
  entity: Pet,
  eventsOf: (state) => state.changesOf(Pet).flatMap(({ before, after }) => eventsOfChange(before, after!)),
};

function eventsOfChange(before: Pet | null, after: Pet): NewEvent[] {
  const { id: petId, deletedAt } = after;
  const data = toPetDto(after);
  if (before === null) {
    return [{ type: 'pet.created', petId, data }];
  }
  if (deletedAt !== null) {
    return [{ type: 'pet.deleted', petId, data: toPetDto(before) }];
  }
  // If only the stock has changed, the pet has no event here. The inventory module reports `inventory.updated` instead.
  return isDeepStrictEqual(data, toPetDto(before)) ? [] : [{ type: 'pet.updated', petId, data }];
}

const IS_THERE = 'deleted_at IS NULL';

const selectPets: Select<ListPetsQuery> = ({ status, categoryId, name, id }, parameter) => {
  const ofCategory = categoryId === undefined ? [] : [`category_id = ${parameter(categoryId, 'bigint')}`];
  // If a list of one category has no status filter, filter by all statuses. The index `pets_by_category` sorts ids only
  // within a status, so PostgreSQL can then read the first pets of each status, instead of sorting all pets of the
  // category. A search by name needs no such filter, because the search reads another index, which is sorted by name.
  const statuses = status ?? (categoryId === undefined || name !== undefined ? undefined : PET_STATUSES);
  const values = statuses && [...new Set(statuses)].map((value) => parameter(value, 'text'));
  if (name !== undefined) {
    const ofStatus = values ? [`status IN (${values.join(', ')})`] : [];
    const ids = id && parameter(`{${id.join()}}`, 'text');
    const named = { prefix: parameter(name, 'text'), filters: [...ofCategory, ...ofStatus], ids };
    return { conditions: [IS_THERE], named };
  }
  // The index `pets_by_status`, for the pets of all categories, has `status` in ascending order. The index
  // `pets_by_category`, for the pets of one category, has `status` in descending order.
  const indexDirection = categoryId === undefined ? 'ASC' : 'DESC';
  return {
    conditions: [IS_THERE, ...ofCategory],
    anyOf: values && { column: 'status', indexDirection, values },
  };
};
