// How a page of orders is asked for: $1 is the id to go on after, $2 how many rows are wanted.
import type { PreparedStatement } from '#libs/database';
import { pageStatement } from '#libs/paging';
import type { ListOrdersQuery } from './orders.dto';

type Statement = PreparedStatement & { values: unknown[] };

/** @param after id of the last order of the page before; @param rows number of rows */
export function orderListStatement(
  columns: string,
  { petId, complete }: Pick<ListOrdersQuery, 'petId' | 'complete'>,
  after: number,
  rows: number,
): Statement {
  const values: unknown[] = [after, rows];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['cancelled_at IS NULL'];
  if (petId !== undefined) {
    conditions.push(`pet_id = ${parameter(petId)}`);
  }
  const wanted = complete === undefined ? [false, true] : [complete];
  const text = pageStatement({
    columns,
    table: 'orders',
    id: 'id',
    conditions,
    within: {
      column: 'complete',
      sorted: petId === undefined ? 'ASC' : 'DESC',
      parameters: wanted.map(parameter),
    },
  });
  return { name: `orders-page${petId === undefined ? '' : '-of-pet'}-of-${wanted.length}`, text, values };
}
