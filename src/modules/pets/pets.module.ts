import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { EventLogModule } from '../events';
import { PetLifecycle } from './pet-catalog';
import { PetsController } from './pets.controller';
import { PetsService } from './pets.service';

/** Pets. */
@Module({
  imports: [CategoriesModule, EventLogModule],
  controllers: [PetsController],
  providers: [PetsService, PetLifecycle],
  exports: [PetLifecycle, PetsService],
})
export class PetsModule {}
