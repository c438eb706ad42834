import { ApiSchema } from '@nestjs/swagger';
import {
  DEFAULT_PAGE_SIZE,
  defineError,
  Field,
  integer,
  MAX_PAGE_SIZE,
  oneOf,
  PageQuery,
  QueryField,
  RepeatableQueryField,
  resourceId,
  ResponseField,
  text,
} from '#libs/http';
import { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';
import type { Pet } from './pet.entity';

/** Validation of a pet's fields, for requests and imports. */
export const petFields = {
  name: text({ min: 1, max: 200, notBlank: true }),
  status: oneOf(PET_STATUSES),
};

const NAME = { description: "The animal's name.", example: 'Rex' };
const CATEGORY_ID = { description: 'Identifier of the category the animal belongs to.', example: 1 };
const STATUS = { description: 'Status of the animal.', example: 'available', enumName: 'PetStatus' };

@ApiSchema({ name: 'NewPet', description: 'The body to create or replace a pet.' })
export class NewPetDto {
  @Field(petFields.name, NAME)
  name!: string;

  @Field(resourceId, CATEGORY_ID)
  categoryId!: number;

  @Field(petFields.status, {
    ...STATUS,
    description: 'Status of the animal. Default: `available`.',
    optional: true,
  })
  status?: PetStatus;
}

@ApiSchema({
  name: 'PetPatch',
  description: 'A JSON Merge Patch (RFC 7396). Fields that are left out do not change.',
})
export class PetPatchDto {
  @Field(petFields.name, { ...NAME, optional: true })
  name?: string;

  @Field(resourceId, { ...CATEGORY_ID, optional: true })
  categoryId?: number;

  @Field(petFields.status, { ...STATUS, optional: true })
  status?: PetStatus;
}

@ApiSchema({ name: 'Pet', description: 'An animal of the store.' })
export class PetDto {
  @ResponseField(petFields.name, NAME)
  name!: string;

  @ResponseField(resourceId, CATEGORY_ID)
  categoryId!: number;

  @ResponseField(petFields.status, { ...STATUS, optional: true })
  status!: PetStatus;

  @ResponseField(resourceId, { description: 'Unique identifier assigned on creation.', example: 1 })
  id!: number;
}

export class ListPetsQuery extends PageQuery {
  @QueryField(integer({ min: 1, max: MAX_PAGE_SIZE }), {
    description:
      'Maximum number of entries on a page. With `id`, the default is 100, so that all of them are on it.',
    default: DEFAULT_PAGE_SIZE,
    example: 20,
  })
  override limit?: number;

  @RepeatableQueryField(petFields.status, {
    description: 'Only pets with one of these statuses.',
    example: ['available', 'pending'],
    maxItems: PET_STATUSES.length,
    enumName: 'PetStatus',
  })
  status?: PetStatus[];

  @QueryField(resourceId, { description: 'Only pets of this category.', example: 1 })
  categoryId?: number;

  @QueryField(text({ min: 1, max: 200 }), {
    description: 'Only pets whose name starts with this text, ignoring case.',
    example: 're',
  })
  name?: string;

  @RepeatableQueryField(resourceId, {
    description: 'Only pets with one of these ids.',
    maxItems: 100,
    example: [1, 2],
  })
  id?: number[];
}

export function fieldsOf(body: NewPetDto) {
  return { ...PET_DEFAULTS, ...body };
}

export function toPetDto({ id, name, categoryId, status }: Pet): PetDto {
  return { id, name, categoryId: categoryId!, status };
}

export const PetNotFoundError = defineError({
  code: 'pet_not_found',
  status: 404,
  when: 'No pet has this id, or it was deleted.',
  message: (petId: number) => `There is no pet ${petId}.`,
  example: [7],
});

export const UnknownCategoryError = defineError({
  code: 'unknown_category',
  status: 422,
  when: 'No category has the `categoryId` in the body.',
  message: (categoryId: number) =>
    `There is no category ${categoryId}: categoryId must be the id of a category.`,
  example: [7],
});

export const InvalidStatusTransitionError = defineError({
  code: 'invalid_status_transition',
  status: 409,
  when: 'This change of status is not allowed: a sold pet cannot become pending.',
  message: (from: string, to: string) => `A ${from} pet cannot become ${to}.`,
  example: ['sold', 'pending'],
});

export const PetHasOpenOrdersError = defineError({
  code: 'pet_has_open_orders',
  status: 409,
  when: 'The pet still has open orders.',
  message: (petId: number) =>
    `Pet ${petId} still has open orders. Complete or cancel them first: GET /store/orders?petId=${petId}&complete=false.`,
  example: [7],
});
