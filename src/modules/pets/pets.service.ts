import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Need,
  type Origin,
  type PageRange,
  PageReader,
  type Parameter,
  type Selection,
  type State,
} from '#libs/database';
import { MAX_PAGE_SIZE, type Page, pageOf, pagesOf, rangeOf } from '#libs/http';
import { CategoryOperations } from '../categories';
import type { NewEvent, ReportedTable } from '../events';
import { mayChangeByHand, PET_STATUSES, type PetStatus, type StockChange, statusAfter } from './pet-status';
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

/** What other modules may see of a pet. */
export type KnownPet = Readonly<Pick<Pet, 'id' | 'status'>>;

/** What the commands of pets need of their stock. Stock depends on pets, so the assembly provides it. */
export abstract class StockOfPets {
  abstract load(petId: number): Need;
  abstract left(state: State, petId: number): number;
  /** Each new pet gets its stock. */
  abstract create(state: State, pet: KnownPet, quantity?: number): void;
}

/** What the commands of pets and of their stock need of orders, which depend on both. */
export abstract class OrdersOfPets {
  abstract countOpen(petId: number): Need;
  abstract hasOpen(state: State, petId: number): boolean;
}

/** The use cases of pets. */
@Injectable()
export class PetsService {
  private readonly pages = new PageReader(this.database, Pet, selectPets, pagesOf(toPetDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly stock: StockOfPets,
    private readonly orders: OrdersOfPets,
  ) {}

  async get(id: number, caller?: number): Promise<PetDto> {
    const pet = await this.database.find(Pet, id, caller);
    if (pet?.deletedAt !== null) {
      throw new PetNotFoundError(id);
    }
    return toPetDto(pet);
  }

  /** With ids and without a limit, the page has all that were asked for. */
  async list(query: ListPetsQuery, caller?: number): Promise<Page<PetDto>> {
    const { id, name, limit = id && MAX_PAGE_SIZE } = query;
    const range = rangeOf({ ...query, limit });
    // Names are a matter of the database.
    return id === undefined || name !== undefined
      ? this.pages.read(range, query, caller)
      : this.listById(id, range, query, caller);
  }

  /** @param quantity units in stock; by default those of a new pet */
  create(body: NewPetDto, origin: Origin, quantity?: number): Promise<PetDto> {
    const { categoryId } = body;
    return this.commands.execute(origin, {
      needs: [CategoryOperations.lockAgainstDeletion(categoryId), { newId: Pet }],
      decide: (state) => {
        assertCategory(state, categoryId);
        const id = state.newId(Pet);
        const pet: Pet = { status: 'available', ...body, id, formerCategoryId: null, deletedAt: null };
        state.insert(Pet, id, pet);
        this.stock.create(state, pet, quantity);
        return toPetDto(pet);
      },
    });
  }

  /** Changes the given fields. A replacement gives all but the status, which stays as it is then. */
  update(id: number, changes: PetPatchDto, origin: Origin): Promise<PetDto> {
    const { categoryId, status } = changes;
    return this.commands.execute(origin, {
      needs: [
        PetOperations.lock(id),
        ...(categoryId === undefined ? [] : [CategoryOperations.lockAgainstDeletion(categoryId)]),
        ...(status === undefined ? [] : [this.stock.load(id)]),
      ],
      decide: (state) => {
        const pet = foundPet(state, id, origin);
        const changed: Pet = { ...pet, ...changes };
        if (status !== undefined && !mayChangeByHand(pet.status, status, this.stock.left(state, id))) {
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

  /** The row is kept for the records, but no longer uses its category. */
  delete(id: number, origin: Origin): Promise<void> {
    return this.commands.execute(origin, {
      needs: [PetOperations.lock(id), this.orders.countOpen(id)],
      decide: (state) => {
        const pet = foundPet(state, id, origin);
        if (this.orders.hasOpen(state, id)) {
          throw new PetHasOpenOrdersError(id);
        }
        const gone = { deletedAt: state.now, categoryId: null, formerCategoryId: pet.categoryId };
        state.update(Pet, id, { ...pet, ...gone });
      },
    });
  }

  /** Shares its statement with all other reads by id. */
  private async listById(
    ids: number[],
    { after, limit }: PageRange,
    { status, categoryId }: ListPetsQuery,
    caller?: number,
  ): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after.id).sort((a, b) => a - b);
    const pets = await Promise.all(wanted.map((id) => this.database.find(Pet, id, caller)));
    const found = pets
      .filter((pet) => pet?.deletedAt === null)
      .filter(
        (pet) =>
          (status?.includes(pet!.status) ?? true) && (categoryId ?? pet!.categoryId) === pet!.categoryId,
      );
    return pageOf(
      found.map((pet) => toPetDto(pet!)),
      limit,
    );
  }
}

/** The operations on pets that other modules may use in their commands. */
export const PetOperations = {
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

function findPet(state: State, id: number): Pet | null {
  const pet = state.find(Pet, id);
  return pet?.deletedAt === null ? pet : null;
}

function foundPet(state: State, id: number, origin: Origin): Pet {
  const pet = findPet(state, id);
  if (pet === null) {
    throw new PetNotFoundError(id);
  }
  origin.precondition?.assertHolds(toPetDto(pet));
  return pet;
}

function assertCategory(state: State, categoryId: number): void {
  if (!CategoryOperations.exists(state, categoryId)) {
    throw new UnknownCategoryError(categoryId);
  }
}

/** The part of pets in writes. The row of a deleted pet is kept. */
export const PETS_TABLE: ReportedTable = {
  entity: Pet,
  eventsOf: (state) =>
    state.changesOf(Pet).map(({ before, after }): NewEvent => {
      const { id: petId, deletedAt } = after!;
      if (before === null) {
        return { type: 'pet.created', petId, data: toPetDto(after!) };
      }
      return deletedAt === null
        ? { type: 'pet.updated', petId, data: toPetDto(after!) }
        : { type: 'pet.deleted', petId, data: toPetDto(before) };
    }),
};

const IS_THERE = 'deleted_at IS NULL';

/** The filters of the pet list as SQL. */
function selectPets({ status, categoryId, name, id }: ListPetsQuery, parameter: Parameter): Selection {
  const ofCategory = categoryId === undefined ? [] : [`category_id = ${parameter(categoryId, 'bigint')}`];
  // The index on categories has the status before the id.
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
