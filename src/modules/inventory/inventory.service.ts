import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { State } from '#libs/commands';
import { Database, RowReader } from '#libs/database';
import { type Page, PageReader, type Parameter, type Selection } from '#libs/paging';
import { type KnownPet, PetLifecycle, type PetLifecycleListener, PetNotFoundError } from '../pets';
import { InventoryItem } from './inventory-item.entity';
import { type InventoryItemDto, type ListInventoryQuery, toInventoryItemDto } from './inventory.dto';
import { FIRST_QUANTITY } from './stock-fields';
import { Stock } from './stock.entity';

/** Reads of the stock, and the stock of a new pet; the commands that change it have their own files. */
@Injectable()
export class InventoryService implements OnModuleInit, PetLifecycleListener {
  private readonly items: RowReader<InventoryItem>;
  private readonly pages: PageReader<InventoryItem, ListInventoryQuery>;

  constructor(
    database: Database,
    private readonly lifecycle: PetLifecycle,
  ) {
    this.items = new RowReader(database, InventoryItem);
    this.pages = new PageReader(database, InventoryItem, selectItems);
  }

  onModuleInit(): void {
    this.lifecycle.join(this);
  }

  petCreated(state: State, pet: KnownPet): void {
    state.insert(Stock, pet.id, { petId: pet.id, quantity: FIRST_QUANTITY[pet.status] });
  }

  async list(query: ListInventoryQuery): Promise<Page<InventoryItemDto>> {
    const { entries, lastId } = await this.pages.read(query);
    return { entries: entries.map(toInventoryItemDto), lastId };
  }

  async get(petId: number): Promise<InventoryItemDto> {
    const item = await this.items.find(petId);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toInventoryItemDto(item);
  }
}

function selectItems({ status }: ListInventoryQuery, parameter: Parameter): Selection {
  const parameters = status && [...new Set(status)].map(parameter);
  return {
    statement: `inventory-page${parameters ? `-of-${parameters.length}-statuses` : ''}`,
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  };
}
