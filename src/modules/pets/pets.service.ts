import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Need,
  type Origin,
  type PageRange,
  PageReader,
  type Parameter,
  type RowChange,
  type Selection,
  type State,
} from '#libs/database';
import { MAX_PAGE_SIZE, type Page, pageOf, pagesOf, rangeOf } from '#libs/http';
import { CategoryOperations } from '../categories';
import type { ReportedTable } from '../../feature';
import type { NewEvent } from '../events';
import { INITIAL_STOCK, mayChangeByHand, PET_STATUSES, type Stocked, statusAfter } from './pet-status';
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

/** The properties of a pet that other modules may read. */
export type KnownPet = Readonly<Pick<Pet, 'id' | keyof Stocked>>;

@Injectable()
export class PetsService {
  private readonly pages = new PageReader(this.database, Pet, selectPets, pagesOf(toPetDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {}

  async get(id: number, clientId?: number): Promise<PetDto> {
    return toPetDto(existing(await this.database.find(Pet, id, clientId), id));
  }

  async known(id: number, clientId?: number): Promise<KnownPet> {
    return existing(await this.database.find(Pet, id, clientId), id);
  }

  /** Creates a reader of pet lists for another module. `toEntry` turns each pet into an entry of that module's own list. */
  pagesAs<Entry>(toEntry: (pet: KnownPet) => Entry) {
    return new PageReader(this.database, Pet, selectPets, pagesOf(toEntry));
  }

  /** If the query has ids but no limit, the page contains all pets with these ids. */
  async list(query: ListPetsQuery, clientId?: number): Promise<Page<PetDto>> {
    const { id, name, limit = id && MAX_PAGE_SIZE } = query;
    const range = rangeOf({ ...query, limit });
    // Read pages by name with SQL, because only the database decides which names match, ignoring case.
    return id === undefined || name !== undefined
      ? this.pages.read(range, query, clientId)
      : this.listById(id, range, query, clientId);
  }

  /** @param stock units in stock; by default `INITIAL_STOCK` of the status */
  create(body: NewPetDto, origin: Origin, stock?: number): Promise<PetDto> {
    const { categoryId, status = 'available' } = body;
    return this.commands.execute(origin, {
      needs: [CategoryOperations.lockAgainstDeletion(categoryId), { newId: Pet }],
      decide: (state) => {
        assertCategory(state, categoryId);
        const id = state.newId(Pet);
        const pet: Pet = {
          ...body,
          id,
          status,
          stock: stock ?? INITIAL_STOCK[status],
          openOrders: 0,
          formerCategoryId: null,
          deletedAt: null,
        };
        state.insert(Pet, id, pet);
        return toPetDto(pet);
      },
    });
  }

  /** Changes the fields that are given, for PUT and PATCH alike: a PUT without `status` leaves the status as it is. */
  update(id: number, changes: PetPatchDto, origin: Origin): Promise<PetDto> {
    const { categoryId, status } = changes;
    return this.commands.execute(origin, {
      needs: [
        PetOperations.lock(id),
        ...(categoryId === undefined ? [] : [CategoryOperations.lockAgainstDeletion(categoryId)]),
      ],
      decide: (state) => {
        const pet = foundPet(state, id, origin);
        const changed: Pet = { ...pet, ...changes };
        if (status !== undefined && !mayChangeByHand(pet, status)) {
          throw new InvalidStatusTransitionError(pet.status, status);
        }
        if (categoryId !== undefined) {
          assertCategory(state, categoryId);
        }
        state.update(Pet, id, changed);
        return toPetDto(changed);
      },
    });
  }

  /**
   * Marks the pet as deleted, and keeps its row for the records. The row no longer refers to the category, so that the category
   * can be deleted.
   */
  delete(id: number, origin: Origin): Promise<void> {
    return this.commands.execute(origin, {
      needs: [PetOperations.lock(id)],
      decide: (state) => {
        const pet = foundPet(state, id, origin);
        if (pet.openOrders > 0) {
          throw new PetHasOpenOrdersError(id);
        }
        const gone = { deletedAt: state.now, categoryId: null, formerCategoryId: pet.categoryId };
        state.update(Pet, id, { ...pet, ...gone });
      },
    });
  }

  /** Finds each pet by its id, because all concurrent reads by id share one statement. */
  private async listById(
    ids: number[],
    { after, limit }: PageRange,
    { status, categoryId }: ListPetsQuery,
    clientId?: number,
  ): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after.id).sort((a, b) => a - b);
    const pets = await Promise.all(wanted.map((id) => this.database.find(Pet, id, clientId)));
    const found = pets
      .filter((pet) => pet?.deletedAt === null)
      .map((pet) => toPetDto(pet!))
      .filter((pet) => status?.includes(pet.status) ?? true)
      .filter((pet) => (categoryId ?? pet.categoryId) === pet.categoryId);
    return pageOf(found, limit);
  }
}

export const PetOperations = {
  /** Locks a pet, so that no other command changes its status, stock or open orders at the same time. */
  lock: (id: number): Need => ({ row: Pet, id, lock: 'FOR NO KEY UPDATE' }),

  get: (state: State, id: number): KnownPet => existing(state.find(Pet, id), id),

  find(state: State, id: number): KnownPet | null {
    const pet = state.find(Pet, id);
    return pet?.deletedAt === null ? pet : null;
  },

  /** Changes the stock or the number of open orders, and the status that follows from them. */
  changeStock(state: State, id: number, change: Partial<Pick<Pet, 'stock' | 'openOrders'>>): KnownPet {
    const before = state.find(Pet, id)!;
    const after = { ...before, ...change };
    const pet = { ...after, status: statusAfter(before, after) };
    state.update(Pet, id, pet);
    return pet;
  },

  changes: (state: State): RowChange<KnownPet>[] => state.changesOf(Pet),
};

function existing(pet: Pet | null, id: number): Pet {
  if (pet?.deletedAt !== null) {
    throw new PetNotFoundError(id);
  }
  return pet;
}

function foundPet(state: State, id: number, origin: Origin): Pet {
  const pet = existing(state.find(Pet, id), id);
  origin.precondition?.assertHolds(toPetDto(pet));
  return pet;
}

function assertCategory(state: State, categoryId: number): void {
  if (!CategoryOperations.exists(state, categoryId)) {
    throw new UnknownCategoryError(categoryId);
  }
}

/** How commands write pets, and which events report the changes. The row of a deleted pet is kept, so `after` is never null. */
export const PETS_TABLE: ReportedTable = {
  entity: Pet,
  eventsOf: (state) => state.changesOf(Pet).flatMap(({ before, after }) => eventsOf(before, after!)),
};

function eventsOf(before: Pet | null, after: Pet): NewEvent[] {
  const { id: petId, deletedAt } = after;
  const data = toPetDto(after);
  if (before === null) {
    return [{ type: 'pet.created', petId, data }];
  }
  if (deletedAt !== null) {
    return [{ type: 'pet.deleted', petId, data: toPetDto(before) }];
  }
  // A change of stock alone is no `pet.updated`: the inventory module reports the stock.
  return isDeepStrictEqual(data, toPetDto(before)) ? [] : [{ type: 'pet.updated', petId, data }];
}

const IS_THERE = 'deleted_at IS NULL';

function selectPets({ status, categoryId, name, id }: ListPetsQuery, parameter: Parameter): Selection {
  const ofCategory = categoryId === undefined ? [] : [`category_id = ${parameter(categoryId, 'bigint')}`];
  // The index `pets_by_category` has the status before the id. For a list of one category, name every status, so that the index
  // returns the ids of each status in order.
  const statuses = status ?? (categoryId === undefined || name !== undefined ? undefined : PET_STATUSES);
  const parameters = statuses && [...new Set(statuses)].map((value) => parameter(value, 'text'));
  if (name !== undefined) {
    const ofStatus = parameters ? [`status IN (${parameters.join(', ')})`] : [];
    const ids = id && parameter(`{${id.join()}}`, 'text');
    const named = { prefix: parameter(name, 'text'), filters: [...ofCategory, ...ofStatus], ids };
    return { conditions: [IS_THERE], named };
  }
  const sorted = categoryId === undefined ? 'ASC' : 'DESC';
  return {
    conditions: [IS_THERE, ...ofCategory],
    within: parameters && { column: 'status', sorted, parameters },
  };
}
