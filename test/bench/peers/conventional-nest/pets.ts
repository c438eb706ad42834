import {
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Query,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { ListPetsDto } from './dto';
import { Pet } from './entities';

@Injectable()
export class PetsService {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  findAll({ limit, offset }: ListPetsDto): Promise<Pet[]> {
    return this.pets.find({ order: { id: 'ASC' }, take: limit, skip: offset });
  }

  async findOne(id: number): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) {
      throw new NotFoundException(`There is no pet ${id}.`);
    }
    return pet;
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
}
