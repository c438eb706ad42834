import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CommandExecutor, Idempotent, type Origin, SentBy } from '#libs/commands';
import { Deprecated } from '#libs/deprecation';
import { Created, IfMatch, Precondition, SingleResource } from '#libs/http';
import { Operation } from '#libs/openapi';
import { Paged, type Page } from '#libs/paging';
import { BodyExamples, IdParam } from '#libs/validation';
import { RequiresScope } from '../auth';
import { createPet, deletePet, replacePet, updatePet } from './change-pets';
import { PetLifecycle } from './pet-lifecycle';
import {
  InvalidStatusTransitionError,
  PetHasOpenOrdersError,
  PetNotFoundError,
  UnknownCategoryError,
} from './pets.errors';
import { ListPetsQuery, NewPetDto, PetDto, PetPatchDto } from './pets.dto';
import { PetsService } from './pets.service';

const EXAMPLE: PetDto = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
const BODIES = {
  named: { summary: 'Only what is required', value: { name: 'Rex', categoryId: 1 } },
  sold: { summary: 'With a status', value: { name: 'Rex', categoryId: 1, status: 'sold' } },
};
const PET_ID = 'Identifier of the pet (Pet.id).';

@ApiTags('Animals')
@Controller('pets')
export class PetsController {
  constructor(
    private readonly pets: PetsService,
    private readonly commands: CommandExecutor,
    private readonly lifecycle: PetLifecycle,
  ) {}

  @Get()
  @RequiresScope('read')
  @Paged()
  @Operation({
    id: 'listPets',
    summary: 'List pets',
    description:
      'Pets in ascending id, a page at a time: the next one is where `Link` with `rel="next"` says. Filters are joined: a pet has to pass all of them.',
    answer: { description: 'One page of pets.', schema: 'Pets', example: [EXAMPLE] },
  })
  list(@Query() query: ListPetsQuery): Promise<Page<PetDto>> {
    return this.pets.list(query);
  }

  @Post()
  @RequiresScope('write')
  @Idempotent()
  @Created('/pets')
  @SingleResource()
  @Operation({
    id: 'createPet',
    summary: 'Create a pet',
    description:
      'The service assigns the id. The pet gets an inventory entry with one unit in stock, or none when it is created as `sold`. Send an `Idempotency-Key` to be able to retry.',
    answer: { status: 201, description: 'The pet was created.', type: PetDto, example: EXAMPLE },
    errors: [UnknownCategoryError],
  })
  @BodyExamples(NewPetDto, BODIES)
  create(@Body() body: NewPetDto, @SentBy() origin: Origin): Promise<PetDto> {
    return this.commands.run(createPet(body, this.lifecycle), origin);
  }

  @Get(':petId')
  @RequiresScope('read')
  @SingleResource()
  @Deprecated({
    since: '2026-11-01',
    sunset: '2027-11-01',
    documentation: '/docs/guides/deprecation',
    successor: '/pets?id={petId}',
  })
  @Operation({
    id: 'getPet',
    summary: 'Get a pet',
    description: 'Deprecated: use `GET /pets?id={petId}`, which answers an array of one pet, or of none.',
    answer: { description: 'The pet.', type: PetDto, example: EXAMPLE },
    errors: [PetNotFoundError],
  })
  async get(@IdParam('petId', PET_ID) petId: number): Promise<PetDto> {
    return this.pets.get(petId);
  }

  @Put(':petId')
  @RequiresScope('write')
  @SingleResource()
  @Operation({
    id: 'replacePet',
    summary: 'Replace a pet',
    description:
      'Sets every field; a status that is left out becomes `available`. Every change of status is allowed but `sold` to `pending`.',
    answer: { description: 'The pet as it is now.', type: PetDto, example: EXAMPLE },
    errors: [PetNotFoundError, UnknownCategoryError, InvalidStatusTransitionError],
  })
  @BodyExamples(NewPetDto, BODIES)
  replace(
    @IdParam('petId', PET_ID) petId: number,
    @Body() body: NewPetDto,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<PetDto> {
    return this.commands.run(replacePet(petId, body, precondition), origin);
  }

  @Patch(':petId')
  @RequiresScope('write')
  @SingleResource()
  @Operation({
    id: 'updatePet',
    summary: 'Change a pet',
    description:
      'Changes the fields that are sent, as a JSON Merge Patch (RFC 7396). No field can be removed, so none takes null. Every change of status is allowed but `sold` to `pending`.',
    answer: { description: 'The pet as it is now.', type: PetDto, example: EXAMPLE },
    errors: [PetNotFoundError, UnknownCategoryError, InvalidStatusTransitionError],
    stability: 'beta',
  })
  @BodyExamples(PetPatchDto, {
    renamed: { summary: 'Another name', value: { name: 'Rex II' } },
    sold: { summary: 'Another status', value: { status: 'sold' } },
  })
  update(
    @IdParam('petId', PET_ID) petId: number,
    @Body() body: PetPatchDto,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<PetDto> {
    return this.commands.run(updatePet(petId, body, precondition), origin);
  }

  @Delete(':petId')
  @RequiresScope('write')
  @Operation({
    id: 'deletePet',
    summary: 'Delete a pet',
    description: 'Only a pet without open orders can be deleted. It is kept in the books.',
    answer: { status: 204, description: 'The pet is gone.' },
    errors: [PetNotFoundError, PetHasOpenOrdersError],
  })
  delete(
    @IdParam('petId', PET_ID) petId: number,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<void> {
    return this.commands.run(deletePet(petId, precondition, this.lifecycle), origin);
  }
}
