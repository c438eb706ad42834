import { ApiSchema } from '@nestjs/swagger';
import {
  DEFAULT_PAGE_SIZE,
  MAX_PAGE_SIZE,
  PageQuery,
  ResponseField,
  Field,
  QueryField,
  RepeatableQueryField,
  resourceId,
  integer,
  oneOf,
  text,
} from '#libs/http';
import type { Pet } from './pet.entity';
import { PET_DEFAULTS, PET_STATUSES, type PetStatus } from './pet-status';

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
