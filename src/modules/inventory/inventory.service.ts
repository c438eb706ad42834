import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, type Transaction, prepared } from '#libs/database';
import { type Precondition, ValidationFailedError } from '#libs/http';
import { type Page, idBefore, pageOf } from '#libs/paging';
import {
  PetCatalog,
  PetLifecycle,
  type PetLifecycleListener,
  PetNotFoundError,
  type PetStatus,
} from '../pets';
import { InventoryItem } from './inventory-item.entity';
import { type InventoryRow, inventoryItemOf, inventoryListStatement } from './inventory-list-statement';
import { type ListInventoryQuery, toInventoryItemDto } from './inventory.dto';
import { InsufficientStockError } from './inventory.errors';
import { FIRST_QUANTITY, MAX_QUANTITY } from './stock-fields';
import { Stock } from './stock.entity';

@Injectable()
export class InventoryService implements OnModuleInit, PetLifecycleListener {
  constructor(
    private readonly database: Database,
    private readonly pets: PetCatalog,
    private readonly lifecycle: PetLifecycle,
  ) {}

  onModuleInit(): void {
    this.lifecycle.join(this);
  }

  async petCreated(transaction: Transaction, pet: { id: number; status: PetStatus }): Promise<void> {
    await transaction.insert(Stock, { petId: pet.id, quantity: FIRST_QUANTITY[pet.status] });
  }

  async list({ limit, cursor, ...filters }: ListInventoryQuery): Promise<Page<InventoryItem>> {
    const { values, ...statement } = inventoryListStatement(filters, idBefore(cursor), limit + 1);
    const rows = await prepared<InventoryRow>(this.database.reader, statement, values);
    return pageOf(rows.map(inventoryItemOf), limit, ({ petId }) => petId);
  }

  async get(petId: number): Promise<InventoryItem> {
    const item = await this.database.reader.findOneBy(InventoryItem, { petId });
    if (!item) {
      throw new PetNotFoundError(petId);
    }
    return item;
  }

  /** Sets the stock to a count. */
  set(petId: number, quantity: number, precondition: Precondition): Promise<InventoryItem> {
    return this.change(petId, undefined, (item) => {
      precondition.assertHolds(toInventoryItemDto(item));
      return { quantity, restocks: quantity > 0 };
    });
  }

  /** Adds to the stock, or takes from it. */
  adjust(petId: number, delta: number, outer?: Transaction): Promise<InventoryItem> {
    return this.change(petId, outer, (item) => {
      const quantity = item.quantity + delta;
      if (quantity < 0) {
        throw new InsufficientStockError(petId);
      }
      if (quantity > MAX_QUANTITY) {
        throw new ValidationFailedError(`delta must not take the stock above ${MAX_QUANTITY}.`);
      }
      return { quantity, restocks: delta > 0 };
    });
  }

  /** Decides and writes under the pet's lock, so that nothing happens to the stock in between. */
  private change(
    petId: number,
    outer: Transaction | undefined,
    decide: (item: InventoryItem) => { quantity: number; restocks: boolean },
  ): Promise<InventoryItem> {
    return this.database.transaction(async (transaction) => {
      const pet = await this.pets.lock(transaction, petId);
      if (!pet) {
        throw new PetNotFoundError(petId);
      }
      const { quantity: before } = await transaction.findOneByOrFail(Stock, { petId });
      const { quantity, restocks } = decide({ petId, quantity: before, status: pet.status });
      await transaction.update(Stock, { petId }, { quantity });
      if (restocks) {
        await this.pets.setStatus(transaction, pet, 'available');
      }
      return { petId, quantity, status: pet.status };
    }, outer);
  }
}
