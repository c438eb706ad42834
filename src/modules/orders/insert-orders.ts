import { type Transaction, int8ToNumber, prepared } from '#libs/database';
import type { Order } from './order.entity';
import type { NewOrderDto } from './orders.dto';

const INSERT = {
  name: 'orders-insert',
  text: `INSERT INTO orders (pet_id, quantity, ship_date, complete)
    SELECT pet_id, quantity, ship_date, complete
    FROM unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::boolean[]) WITH ORDINALITY AS asked (pet_id, quantity, ship_date, complete, place)
    ORDER BY place RETURNING id`,
};

/** Writes the orders down, in their order, with what a body may leave out. */
export async function insertOrders(transaction: Transaction, bodies: NewOrderDto[]): Promise<Order[]> {
  const orders = bodies.map(toOrder);
  const columns = [
    orders.map(({ petId }) => petId),
    orders.map(({ quantity }) => quantity),
    orders.map(({ shipDate }) => shipDate),
    orders.map(({ complete }) => complete),
  ];
  const rows = await prepared<{ id: string }>(transaction, INSERT, columns);
  if (rows.length !== orders.length) {
    throw new Error(`${orders.length} orders were to be written, and ${rows.length} were.`);
  }
  return orders.map((order, index) => ({ ...order, id: int8ToNumber(rows[index]!.id) }));
}

function toOrder({ petId, quantity = 1, shipDate, complete = false }: NewOrderDto): Omit<Order, 'id'> {
  const date = shipDate === undefined ? null : new Date(shipDate.toUpperCase());
  return { petId, quantity, shipDate: date, complete, cancelledAt: null };
}
