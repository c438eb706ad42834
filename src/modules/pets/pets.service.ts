import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database, type Transaction, insertedId, violatesForeignKey } from '#libs/database';
import type { Precondition } from '#libs/http';
import type { Page } from '#libs/paging';
import { PetLifecycle } from './pet-lifecycle';
import { PetReader } from './pet-reader';
import { Pet } from './pet.entity';
import { mayChangeByHand } from './pet-status';
import { InvalidStatusTransitionError, PetNotFoundError, UnknownCategoryError } from './pets.errors';
import { type ListPetsQuery, type NewPetDto, type PetDto, type PetPatchDto, toPetDto } from './pets.dto';

@Injectable()
export class PetsService {
  constructor(
    private readonly database: Database,
    private readonly lifecycle: PetLifecycle,
    private readonly reader: PetReader,
  ) {}

  list(query: ListPetsQuery): Promise<Page<PetDto>> {
    return this.reader.list(query);
  }

  async get(id: number): Promise<PetDto> {
    return found(await this.reader.find(id), id);
  }

  create({ name, categoryId, status = 'available' }: NewPetDto, outer?: Transaction): Promise<Pet> {
    const values = { name, categoryId, status, formerCategoryId: null, deletedAt: null };
    return this.database.transaction(async (transaction) => {
      const result = await transaction.insert(Pet, values).catch(orUnknownCategory(categoryId));
      const pet: Pet = { ...values, id: insertedId(result) };
      await this.lifecycle.created(transaction, pet);
      return pet;
    }, outer);
  }

  /** Changes what is given and leaves the rest as it is. */
  update(id: number, changes: PetPatchDto, precondition: Precondition): Promise<Pet> {
    return this.database.transaction(async (transaction) => {
      const pet = await this.locked(transaction, id, precondition);
      const { name = pet.name, categoryId = pet.categoryId!, status = pet.status } = changes;
      if (!mayChangeByHand(pet.status, status)) {
        throw new InvalidStatusTransitionError(pet.status, status);
      }
      const values = { name, categoryId, status };
      await transaction.update(Pet, { id }, values).catch(orUnknownCategory(categoryId));
      return { ...pet, ...values };
    });
  }

  /** Changes everything; an absent status means `available`. */
  replace(id: number, body: NewPetDto, precondition: Precondition): Promise<Pet> {
    return this.update(id, { ...body, status: body.status ?? 'available' }, precondition);
  }

  /** The row stays for the books; it only lets go of its category. */
  delete(id: number, precondition: Precondition): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const pet = await this.locked(transaction, id, precondition);
      await this.lifecycle.deleting(transaction, id);
      const gone = { deletedAt: () => 'now()', categoryId: null, formerCategoryId: pet.categoryId };
      await transaction.update(Pet, { id }, gone);
    });
  }

  private async locked(transaction: Transaction, id: number, precondition: Precondition): Promise<Pet> {
    const where = { id, deletedAt: IsNull() };
    const lock = { mode: 'pessimistic_write' } as const;
    const pet = found(await transaction.findOne(Pet, { where, lock }), id);
    precondition.assertHolds(toPetDto(pet));
    return pet;
  }
}

function found<Found>(pet: Found | null, id: number): Found {
  if (!pet) {
    throw new PetNotFoundError(id);
  }
  return pet;
}

/** The foreign key speaks last: asked before, a category could be deleted before the pet is written. */
function orUnknownCategory(categoryId: number): (error: unknown) => never {
  return (error) => {
    throw violatesForeignKey(error, 'pets_category_fk') ? new UnknownCategoryError(categoryId) : error;
  };
}
