import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import type { CallerId, CommandSource } from '#libs/database';
import { type Deprecation, IdParam, Operation, Tag, exampleOf } from '#libs/http';
import { ClientId, ScopeByMethod } from '../auth';
import { Source, SendsCommands } from '../writes';
import {
  InvalidStatusTransitionError,
  ListPetsQuery,
  NewPetDto,
  PetDto,
  PetHasOpenOrdersError,
  PetNotFoundError,
  PetPatchDto,
  UnknownCategoryError,
} from './pets.dto';
import { PetsService } from './pets.service';

const PetId = (example?: number) => IdParam('petId', 'Identifier of the pet (Pet.id).', example);

const GET_PET: Deprecation = {
  since: '2026-11-01',
  sunset: '2027-11-01',
  documentation: '/docs/guides/deprecation',
  successor: '/pets?id={petId}',
};

@Tag({ place: 10, name: 'Animals', description: 'The pets of the store.', parent: 'Pets' })
@Controller('pets')
@ApiExtraModels(PetDto)
@ScopeByMethod()
@SendsCommands()
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  @Operation({
    id: 'listPets',
    summary: 'List pets',
    description:
      'Returns a page of pets, sorted by id, or with a `name` by lower-case name and id. `Link` leads to the next page. A pet must match all filters. With a `name` and a rare `status` or `categoryId`, a page may be short or empty although `Link` leads to more pets.',
    response: {
      description: 'One page of pets.',
      page: 'StoredPet',
      schema: 'Pets',
      single: 'id',
    },
  })
  list(@Query() query: ListPetsQuery, @ClientId() clientId: CallerId) {
    return this.pets.list(query, clientId);
  }

  @Post()
  @Operation({
    id: 'createPet',
    summary: 'Create a pet',
    description:
      'The service assigns the id. The pet starts with one unit in stock, or with none if it is created as `sold`. Send an `Idempotency-Key` to make the request safe to retry.',
    response: {
      status: 201,
      description: 'The pet was created.',
      resource: 'StoredPet',
      example: { id: 23, ...exampleOf(NewPetDto) },
    },
    errors: [UnknownCategoryError],
  })
  create(@Body() body: NewPetDto, @Source() source: CommandSource) {
    return this.pets.create(body, source);
  }

  @Get(':petId')
  @Operation({
    id: 'getPet',
    summary: 'Get a pet',
    description:
      'Deprecated. Use `GET /pets?id={petId}` instead, which returns an array with one pet or none.',
    response: { description: 'The pet.', resource: 'StoredPet' },
    deprecated: GET_PET,
    errors: [PetNotFoundError],
  })
  get(@PetId() petId: number, @ClientId() clientId: CallerId) {
    return this.pets.get(petId, clientId);
  }

  @Put(':petId')
  @Operation({
    id: 'replacePet',
    summary: 'Replace a pet',
    description:
      'Replaces all fields. Without a `status`, the pet keeps its status. A pet with stock can be held (`pending` or `sold`) and made `available` again. A pet without stock cannot become `available`, and a `sold` pet cannot become `pending`.',
    response: { description: 'The updated pet.', resource: 'StoredPet' },
    errors: [PetNotFoundError, UnknownCategoryError, InvalidStatusTransitionError],
  })
  replace(@PetId() petId: number, @Body() body: NewPetDto, @Source() source: CommandSource) {
    return this.pets.update(petId, body, source);
  }

  @Patch(':petId')
  @Operation({
    id: 'updatePet',
    summary: 'Update a pet',
    description:
      'Updates the fields in the body, a JSON Merge Patch (RFC 7396). Fields cannot be removed, so null is not accepted. `status` can change as in a PUT.',
    response: {
      description: 'The updated pet.',
      resource: 'StoredPet',
      example: { id: 1, name: 'Rex II', categoryId: 1, status: 'available' },
    },
    errors: [PetNotFoundError, UnknownCategoryError, InvalidStatusTransitionError],
    stability: 'beta',
    bodyExamples: {
      renamed: { summary: 'Rename', value: { name: 'Rex II' } },
      offered: { summary: 'Offer it again', value: { status: 'available' } },
    },
  })
  update(@PetId() petId: number, @Body() body: PetPatchDto, @Source() source: CommandSource) {
    return this.pets.update(petId, body, source);
  }

  @Delete(':petId')
  @Operation({
    id: 'deletePet',
    summary: 'Delete a pet',
    description: 'Deletes a pet that has no open orders.',
    errors: [PetNotFoundError, PetHasOpenOrdersError],
  })
  delete(@PetId(2) petId: number, @Source() source: CommandSource) {
    return this.pets.delete(petId, source);
  }
}
