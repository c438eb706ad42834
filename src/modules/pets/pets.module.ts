import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { BulkPets } from './bulk-pets';
import { PetLifecycle } from './pet-lifecycle';
import { PetsController } from './pets.controller';
import { PetsService } from './pets.service';

/** The animals: their names, categories and statuses. */
@Module({
  imports: [CategoriesModule],
  controllers: [PetsController],
  providers: [PetsService, PetLifecycle, BulkPets],
  exports: [PetLifecycle, BulkPets, PetsService],
})
export class PetsModule {}
