import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RowChange, State } from '#libs/database';
import { EventLog, type Occurrence } from '../events';
import { PetCatalog } from '../pets';
import { toInventoryItemDto } from './inventory.dto';
import { Stock } from './stock.entity';

/** The events of stock: every change of a count. A new pet reports none for its first count. */
@Injectable()
export class StockEvents implements OnModuleInit {
  constructor(private readonly log: EventLog) {}

  onModuleInit(): void {
    this.log.report(Stock, eventsOf);
  }
}

function eventsOf({ before, after }: RowChange<Stock>, state: State): Occurrence[] {
  if (before === null) {
    return [];
  }
  const { petId, quantity } = after!;
  const { status } = PetCatalog.find(state, petId)!;
  return [{ type: 'inventory.updated', petId, data: toInventoryItemDto({ petId, quantity, status }) }];
}
