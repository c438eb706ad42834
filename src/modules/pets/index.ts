import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { Pet } from './pet.entity';
import { PetsController } from './pets.controller';
import { PET_SCHEMAS } from './pets.dto';
import { PETS_TABLE, PetsService } from './pets.service';

export { PET_STATUSES, type PetStatus, type Stock } from './pet-status';
export { NewPetDto, PetNotFoundError, UnknownCategoryError } from './pets.dto';
export { PetRows, type PetWithStatus, PetsService, StockOfPets } from './pets.service';

@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [PetsController],
  providers: [PetsService],
  exports: [PetsService],
})
export class PetsModule {}

export const PETS: Feature = { module: PetsModule, tables: [PETS_TABLE], schemas: PET_SCHEMAS };
