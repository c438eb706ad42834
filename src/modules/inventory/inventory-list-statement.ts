// How a page of the inventory is asked for: $1 is the pet's id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, int8ToNumber } from '#libs/database';
import { pageStatement } from '#libs/paging';
import type { PetStatus } from '../pets';
import type { InventoryItem } from './inventory-item.entity';
import type { ListInventoryQuery } from './inventory.dto';

type Statement = PreparedStatement & { values: unknown[] };

/** An entry as the driver hands it over. */
export interface InventoryRow {
  pet_id: string;
  quantity: number;
  status: PetStatus;
}

/** @param after id of the pet with the last entry of the page before; @param rows number of rows */
export function inventoryListStatement(
  { status }: Pick<ListInventoryQuery, 'status'>,
  after: number,
  rows: number,
): Statement {
  const values: unknown[] = [after, rows];
  const parameters = status && [...new Set(status)].map((one) => `$${values.push(one)}`);
  const text = pageStatement({
    columns: 'pet_id, quantity, status',
    table: 'inventory_items',
    id: 'pet_id',
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  });
  return { name: `inventory-page${parameters ? `-of-${parameters.length}-statuses` : ''}`, text, values };
}

export function inventoryItemOf({ pet_id, quantity, status }: InventoryRow): InventoryItem {
  return { petId: int8ToNumber(pet_id), quantity, status };
}
