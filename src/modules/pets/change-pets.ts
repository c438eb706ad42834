import type { Command, State } from '#libs/database';
import type { Precondition } from '#libs/http';
import { CategoryCatalog } from '../categories';
import { findPet, PetCatalog, type PetLifecycle } from './pet-catalog';
import { mayChangeByHand } from './pet-status';
import { Pet } from './pet.entity';
import {
  fieldsOf,
  InvalidStatusTransitionError,
  type NewPetDto,
  type PetDto,
  PetNotFoundError,
  type PetPatchDto,
  toPetDto,
  UnknownCategoryError,
} from './pets.dto';

export function createPet(body: NewPetDto, lifecycle: PetLifecycle): Command<PetDto> {
  const { categoryId } = body;
  return {
    needs: [CategoryCatalog.keep(categoryId), { newId: Pet }],
    decide: (state) => {
      assertCategory(state, categoryId);
      const id = state.newId(Pet);
      const pet: Pet = { ...fieldsOf(body), id, formerCategoryId: null, deletedAt: null };
      state.insert(Pet, id, pet);
      lifecycle.created(state, pet);
      return toPetDto(pet);
    },
  };
}

/** Replaces all fields; a field that is left out gets the default of a new pet. */
export function replacePet(
  id: number,
  body: NewPetDto,
  precondition: Precondition,
  lifecycle: PetLifecycle,
): Command<PetDto> {
  return updatePet(id, fieldsOf(body), precondition, lifecycle);
}

/** Changes only the given fields. */
export function updatePet(
  id: number,
  changes: PetPatchDto,
  precondition: Precondition,
  lifecycle: PetLifecycle,
): Command<PetDto> {
  const { categoryId, status } = changes;
  return {
    needs: [
      PetCatalog.lock(id),
      ...(categoryId === undefined ? [] : [CategoryCatalog.keep(categoryId)]),
      ...(status === undefined ? [] : lifecycle.statusNeeds(id)),
    ],
    decide: (state) => {
      const pet = foundPet(state, id, precondition);
      const changed: Pet = { ...pet, ...changes };
      if (!mayChangeByHand(pet.status, changed.status)) {
        throw new InvalidStatusTransitionError(pet.status, changed.status);
      }
      if (categoryId !== undefined) {
        assertCategory(state, categoryId);
      }
      state.update(Pet, id, changed);
      return toPetDto(changed);
    },
  };
}

/** The row is kept for the records, but no longer uses its category. */
export function deletePet(id: number, precondition: Precondition, lifecycle: PetLifecycle): Command<void> {
  return {
    needs: [PetCatalog.lock(id), ...lifecycle.deletionNeeds(id)],
    decide: (state) => {
      const pet = foundPet(state, id, precondition);
      lifecycle.deleting(state, id);
      const gone = { deletedAt: state.now, categoryId: null, formerCategoryId: pet.categoryId };
      state.update(Pet, id, { ...pet, ...gone });
    },
  };
}

function foundPet(state: State, id: number, precondition: Precondition): Pet {
  const pet = findPet(state, id);
  if (pet === null) {
    throw new PetNotFoundError(id);
  }
  precondition.assertHolds(toPetDto(pet));
  return pet;
}

function assertCategory(state: State, categoryId: number): void {
  if (!CategoryCatalog.exists(state, categoryId)) {
    throw new UnknownCategoryError(categoryId);
  }
}
