// How a page of the inventory is asked for: $1 is the pet's id to go on after, $2 how many rows are wanted.
import type { PreparedStatement } from '#libs/database';
import { pageStatement } from '#libs/paging';
import type { ListInventoryQuery } from './inventory.dto';

type Statement = PreparedStatement & { values: unknown[] };

/** @param after id of the pet with the last entry of the page before; @param rows number of rows */
export function inventoryListStatement(
  columns: string,
  { status }: Pick<ListInventoryQuery, 'status'>,
  after: number,
  rows: number,
): Statement {
  const values: unknown[] = [after, rows];
  const parameters = status && [...new Set(status)].map((one) => `$${values.push(one)}`);
  const text = pageStatement({
    columns,
    table: 'inventory_items',
    id: 'pet_id',
    conditions: [],
    within: parameters && { column: 'status', sorted: 'ASC', parameters },
  });
  return { name: `inventory-page${parameters ? `-of-${parameters.length}-statuses` : ''}`, text, values };
}
