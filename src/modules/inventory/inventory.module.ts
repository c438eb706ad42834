import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { Need, RowChange, State } from '#libs/database';
import { EventLog, EventLogModule, type Occurrence } from '../events';
import {
  type KnownPet,
  PetCatalog,
  PetLifecycle,
  type PetLifecycleListener,
  PetsModule,
  type PetStatus,
} from '../pets';
import { InventoryController } from './inventory.controller';
import { toInventoryItemDto } from './inventory.dto';
import { BulkStock, InventoryService } from './inventory.service';
import { StockReservations, unitsOf } from './stock-reservations';
import { Stock } from './stock.entity';

/** The stock of a new pet by default. */
export const FIRST_QUANTITY: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

/** What happens to the stock with its pet: a new pet has stock, and a change of its count or status is an event. */
@Injectable()
export class StockLifecycle implements OnModuleInit, PetLifecycleListener {
  constructor(
    private readonly lifecycle: PetLifecycle,
    private readonly log: EventLog,
  ) {}

  onModuleInit(): void {
    this.lifecycle.join(this);
    this.log.report(Stock, eventsOf);
  }

  petCreated(state: State, pet: KnownPet): void {
    state.insert(Stock, pet.id, { petId: pet.id, quantity: FIRST_QUANTITY[pet.status] });
  }

  statusNeeds(petId: number): Need[] {
    return [StockReservations.load(petId)];
  }

  statusChanged(state: State, { id }: KnownPet): void {
    // A changed count has been reported already, with the status.
    if (!state.isChanged(Stock, id)) {
      this.log.add(state, updated(state, id));
    }
  }
}

/** A new pet reports none for its first count. */
function eventsOf({ before, after }: RowChange<Stock>, state: State): Occurrence[] {
  return before === null ? [] : [updated(state, after!.petId)];
}

function updated(state: State, petId: number): Occurrence {
  const { status } = PetCatalog.find(state, petId)!;
  const data = toInventoryItemDto({ petId, quantity: unitsOf(state, petId), status });
  return { type: 'inventory.updated', petId, data };
}

/** Stock. */
@Module({
  imports: [PetsModule, EventLogModule],
  controllers: [InventoryController],
  providers: [InventoryService, StockLifecycle, BulkStock],
  exports: [BulkStock, InventoryService],
})
export class InventoryModule {}
