import {
  Body,
  ConflictException,
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, In, MoreThan, Repository } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { CreatePetDto, ListPetsDto, UpdatePetDto } from './dto';
import { Category, Pet, Stock } from './entities';
import { IdempotencyService, IdempotencyUse, type Use } from './idempotency';

@Injectable()
export class PetsService {
  constructor(
    @InjectRepository(Pet) private readonly pets: Repository<Pet>,
    private readonly dataSource: DataSource,
    private readonly idempotency: IdempotencyService,
  ) {}

  findAll({ limit, cursor, id }: ListPetsDto): Promise<Pet[]> {
    return this.pets.find({
      where: { id: id ? In(id) : MoreThan(cursor) },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  async findOne(id: number): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) {
      throw new NotFoundException(`There is no pet ${id}.`);
    }
    return pet;
  }

  create({ status = 'available', ...fields }: CreatePetDto, use: Use | undefined): Promise<Pet> {
    return this.idempotency.run(use, async (manager) => {
      if (!(await manager.existsBy(Category, { id: fields.categoryId }))) {
        throw new UnprocessableEntityException(`There is no category ${fields.categoryId}.`);
      }
      const pet = await manager.save(manager.create(Pet, { ...fields, status }));
      await manager.save(manager.create(Stock, { petId: pet.id, quantity: status === 'sold' ? 0 : 1 }));
      const { id, name, categoryId } = pet;
      return { id, name, categoryId, status };
    });
  }

  update(id: number, changes: UpdatePetDto): Promise<Pet> {
    return this.dataSource.transaction(async (manager) => {
      const pet = await manager.findOne(Pet, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!pet) {
        throw new NotFoundException(`There is no pet ${id}.`);
      }
      if (pet.status === 'sold' && changes.status === 'pending') {
        throw new ConflictException('A sold pet cannot become pending.');
      }
      return manager.save(Pet, manager.merge(Pet, pet, changes));
    });
  }
}

@Controller('pets')
@UseGuards(ApiKeyGuard)
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  findAll(@Query() query: ListPetsDto): Promise<Pet[]> {
    return this.pets.findAll(query);
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<Pet> {
    return this.pets.findOne(id);
  }

  @Post()
  create(@Body() body: CreatePetDto, @IdempotencyUse() use?: Use): Promise<Pet> {
    return this.pets.create(body, use);
  }

  @Patch(':id')
  update(@Param('id', ParseIntPipe) id: number, @Body() body: UpdatePetDto): Promise<Pet> {
    return this.pets.update(id, body);
  }
}
