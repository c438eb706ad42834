import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { BulkPets } from './bulk-pets';
import { PetCatalog } from './pet-catalog';
import { PetLifecycle } from './pet-lifecycle';
import { PetReader } from './pet-reader';
import { PetsController } from './pets.controller';
import { PetsService } from './pets.service';

/** The animals: their names, categories and statuses. */
@Module({
  imports: [CategoriesModule],
  controllers: [PetsController],
  providers: [PetsService, PetReader, PetCatalog, PetLifecycle, BulkPets],
  exports: [PetCatalog, PetLifecycle, PetsService, BulkPets],
})
export class PetsModule {}
