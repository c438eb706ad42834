import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { PetCatalog } from './pet-catalog';
import { PetLifecycle } from './pet-lifecycle';
import { PetsController } from './pets.controller';
import { PetsService } from './pets.service';

/** The animals: their names, categories and statuses. */
@Module({
  imports: [CategoriesModule],
  controllers: [PetsController],
  providers: [PetsService, PetCatalog, PetLifecycle],
  exports: [PetCatalog, PetLifecycle, PetsService],
})
export class PetsModule {}
