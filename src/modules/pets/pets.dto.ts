import { ApiSchema, PartialType, type SchemaObject, getSchemaPath } from '@nestjs/swagger';
import { defineError, Id, MAX_PAGE_SIZE, OneOf, PageQuery, responseSchema, Text } from '#libs/http';
import { PET_STATUSES, type PetStatus } from './pet-status';
import type { Pet } from './pet.entity';

const STATUS = { description: 'Status of the pet.', example: 'available', enumName: 'PetStatus' };

@ApiSchema({ name: 'NewPet', description: 'The body to create or replace a pet.' })
export class NewPetDto {
  @Text({ isName: true, min: 1, max: 200, notBlank: true, description: "The pet's name.", example: 'Rex' })
  name!: string;

  @Id({ description: 'Identifier of the category the pet belongs to.', example: 1 })
  categoryId!: number;

  @OneOf(PET_STATUSES, {
    ...STATUS,
    description:
      'Status of the pet. Left out, a new pet is `available`, and a replaced one keeps its status.',
    optional: true,
  })
  status?: PetStatus;
}

@ApiSchema({
  name: 'PetPatch',
  description: 'A JSON Merge Patch (RFC 7396). Fields that are left out do not change.',
})
export class PetPatchDto extends PartialType(NewPetDto, { skipNullProperties: false }) {
  @OneOf(PET_STATUSES, { ...STATUS, optional: true })
  override status?: PetStatus;
}

@ApiSchema({ name: 'Pet', description: 'A pet of the store.' })
export class PetDto extends NewPetDto {
  @OneOf(PET_STATUSES, { ...STATUS, optional: true })
  override status!: PetStatus;

  @Id({ description: 'Unique identifier assigned on creation.', example: 1 })
  id!: number;
}

export const PET_SCHEMAS: Record<string, SchemaObject> = {
  StoredPet: responseSchema('Pet', { status: { $ref: getSchemaPath('PetStatus') } }),
  Pets: {
    type: 'array',
    description: 'One page of pets.',
    maxItems: MAX_PAGE_SIZE,
    items: { $ref: getSchemaPath('StoredPet') },
  },
};

export class ListPetsQuery extends PageQuery {
  @OneOf(PET_STATUSES, {
    ...STATUS,
    times: PET_STATUSES.length,
    description: 'Only pets with one of these statuses.',
    example: ['available', 'pending'],
  })
  status?: PetStatus[];

  @Id({ times: 1, description: 'Only pets of this category.', example: 1 })
  categoryId?: number;

  @Text({
    isName: true,
    min: 1,
    max: 200,
    times: 1,
    description: 'Only pets whose name starts with this text, ignoring case.',
    example: 're',
  })
  name?: string;

  @Id({
    times: MAX_PAGE_SIZE,
    description: `Only pets with one of these ids, at most ${MAX_PAGE_SIZE}, which is then the default of \`limit\`. One id alone gives an \`ETag\`.`,
    example: [1, 2],
  })
  id?: number[];
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
  when: 'This change of status is not allowed: a sold pet cannot become pending, and a pet without stock cannot become available.',
  message: (from: string, to: string) =>
    to === 'available'
      ? 'A pet without stock cannot become available. Set its stock: that makes it available.'
      : `A ${from} pet cannot become ${to}.`,
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
