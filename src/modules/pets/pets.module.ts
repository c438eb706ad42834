import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { EventLogModule } from '../events';
import { BulkPets } from './bulk-pets';
import { PetEvents } from './pet-events';
import { PetLifecycle } from './pet-lifecycle';
import { PetsController } from './pets.controller';
import { PetsService } from './pets.service';

/** Pets. */
@Module({
  imports: [CategoriesModule, EventLogModule],
  controllers: [PetsController],
  providers: [PetsService, PetLifecycle, PetEvents, BulkPets],
  exports: [PetLifecycle, BulkPets, PetsService],
})
export class PetsModule {}
