import { Injectable } from '@nestjs/common';
import { Database, PageReader, type Parameter, type Selection, type Transaction } from '#libs/database';
import type { Page } from '#libs/http';
import { PetNotFoundError } from '../pets';
import { type InventoryItemDto, type ListInventoryQuery, toInventoryItemDto } from './inventory.dto';
import { InventoryItem } from './stock.entity';

/** Reads of the stock; the commands that change it have their own files. */
@Injectable()
export class InventoryService {
  private readonly pages: PageReader<InventoryItem, ListInventoryQuery>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, InventoryItem, selectItems);
  }

  async list(query: ListInventoryQuery, caller?: number): Promise<Page<InventoryItemDto>> {
    const { entries, lastId } = await this.pages.read(query, caller);
    return { entries: entries.map(toInventoryItemDto), lastId };
  }

  async get(petId: number, caller?: number): Promise<InventoryItemDto> {
    const item = await this.database.find(InventoryItem, petId, caller);
    if (item === null) {
      throw new PetNotFoundError(petId);
    }
    return toInventoryItemDto(item);
  }
}

function selectItems({ status }: ListInventoryQuery, parameter: Parameter): Selection {
  const parameters = status && [...new Set(status)].map((value) => parameter(value, 'text'));
  return {
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  };
}

/** Bulk operations on stock, for import and export. */
@Injectable()
export class BulkStock {
  /** The stock of all pets, deleted ones too, as a query to build on. */
  readonly all = `SELECT pet_id, quantity FROM inventory`;

  /** Inserts the stock of new pets: the rows of a query with `pet_id` and `quantity`, valid by `stockQuantity`. */
  async insert(transaction: Transaction, query: string): Promise<void> {
    await transaction.query(
      `INSERT INTO inventory (pet_id, quantity) SELECT pet_id, quantity FROM (${query}) AS entered`,
    );
  }
}
