// How a page of orders is asked for: $1 is the id to go on after, $2 how many rows are wanted.
import { type PreparedStatement, int8ToNumber } from '#libs/database';
import { pageStatement } from '#libs/paging';
import type { Order } from './order.entity';
import type { ListOrdersQuery } from './orders.dto';

type Statement = PreparedStatement & { values: unknown[] };

/** An order as the driver hands it over. */
export interface OrderRow {
  id: string;
  pet_id: string;
  quantity: number;
  ship_date: Date | null;
  complete: boolean;
}

/** @param after id of the last order of the page before; @param rows number of rows */
export function orderListStatement(
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
    columns: 'id, pet_id, quantity, ship_date, complete',
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

export function orderOf({ id, pet_id, quantity, ship_date, complete }: OrderRow): Order {
  const ids = { id: int8ToNumber(id), petId: int8ToNumber(pet_id) };
  return { ...ids, quantity, shipDate: ship_date, complete, cancelledAt: null };
}
