import { Injectable } from '@nestjs/common';
import { Database, PageReader, type Parameter, type Selection } from '#libs/database';
import { type Page } from '#libs/http';
import { PetNotFoundError } from '../pets';
import { InventoryItem } from './inventory-item.entity';
import { type InventoryItemDto, type ListInventoryQuery, toInventoryItemDto } from './inventory.dto';

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

  async get(petId: number): Promise<InventoryItemDto> {
    const item = await this.database.find(InventoryItem, petId);
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
