import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { RowChange, State } from '#libs/database';
import { CategoriesModule } from '../categories';
import { EventLog, EventLogModule, type Occurrence } from '../events';
import { PetLifecycle } from './pet-catalog';
import { Pet } from './pet.entity';
import { PetsController } from './pets.controller';
import { toPetDto } from './pets.dto';
import { BulkPets, PetsService } from './pets.service';

/** The events of pets, whether a caller, an order or the stock changed them. */
@Injectable()
export class PetEvents implements OnModuleInit {
  constructor(
    private readonly log: EventLog,
    private readonly lifecycle: PetLifecycle,
  ) {}

  onModuleInit(): void {
    this.log.report(Pet, (change, state) => {
      this.reportStatus(change, state);
      return eventsOf(change);
    });
  }

  private reportStatus({ before, after }: RowChange<Pet>, state: State): void {
    if (before !== null && before.status !== after!.status) {
      this.lifecycle.statusChanged(state, after!);
    }
  }
}

/** The row of a deleted pet is kept. */
function eventsOf({ before, after }: RowChange<Pet>): Occurrence[] {
  const { id: petId, deletedAt } = after!;
  if (before === null) {
    return [{ type: 'pet.created', petId, data: toPetDto(after!) }];
  }
  return deletedAt === null
    ? [{ type: 'pet.updated', petId, data: toPetDto(after!) }]
    : [{ type: 'pet.deleted', petId, data: toPetDto(before) }];
}

/** Pets. */
@Module({
  imports: [CategoriesModule, EventLogModule],
  controllers: [PetsController],
  providers: [PetsService, PetLifecycle, PetEvents, BulkPets],
  exports: [PetLifecycle, BulkPets, PetsService],
})
export class PetsModule {}
