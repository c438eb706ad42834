import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { State } from '#libs/commands';
import { Database, RowReader } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { type KnownPet, PetLifecycle, type PetLifecycleListener, PetNotFoundError } from '../pets';
import { InventoryItem } from './inventory-item.entity';
import { inventoryListStatement } from './inventory-list-statement';
import { type InventoryItemDto, type ListInventoryQuery, toInventoryItemDto } from './inventory.dto';
import { FIRST_QUANTITY } from './stock-fields';
import { Stock } from './stock.entity';

/** Reads of the stock, and the first stock of a new pet; what changes it has files of its own. */
@Injectable()
export class InventoryService implements OnModuleInit, PetLifecycleListener {
  private readonly items: RowReader<InventoryItem>;

  constructor(
    private readonly database: Database,
    private readonly lifecycle: PetLifecycle,
  ) {
    this.items = new RowReader(database, InventoryItem);
  }

  onModuleInit(): void {
    this.lifecycle.join(this);
  }

  petCreated(state: State, pet: KnownPet): void {
    state.insert(Stock, pet.id, { petId: pet.id, quantity: FIRST_QUANTITY[pet.status] });
  }

  async list({ limit, cursor, ...filters }: ListInventoryQuery): Promise<Page<InventoryItemDto>> {
    const columns = this.database.table(InventoryItem).names;
    const statement = inventoryListStatement(columns, filters, idBefore(cursor), limit + 1);
    const rows = await this.database.rows(InventoryItem, statement);
    return pageOf(rows.map(toInventoryItemDto), limit, ({ petId }) => petId);
  }

  async get(petId: number): Promise<InventoryItemDto> {
    const item = await this.items.find(petId);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toInventoryItemDto(item);
  }
}
