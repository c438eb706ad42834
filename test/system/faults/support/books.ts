import { Client } from 'pg';
import type { Order } from '../../../support/builders';

interface BookedOrder {
  petId: number;
  quantity: number;
  complete: boolean;
  cancelled: boolean;
}

/** What the answers say that there is. */
export class Books {
  /** Orders by their id. */
  readonly orders = new Map<number, BookedOrder>();
  /** Names of pets by their id; null when deleted. */
  readonly pets = new Map<number, string | null>();
  /** Units that each ordered pet would have without its orders: set at first, and adjusted. */
  readonly stock = new Map<number, number>();

  /** @param databaseUrl of a store that nobody changes at the moment; what is there already goes into the books */
  static async begin(databaseUrl: string): Promise<Books> {
    const books = new Books();
    await withClient(databaseUrl, async (client) => {
      (await ordersIn(client)).forEach((order, id) => books.orders.set(id, order));
      (await petsIn(client)).forEach((name, id) => books.pets.set(id, name));
    });
    return books;
  }

  enter({ id, petId, quantity, complete }: Order): void {
    this.orders.set(id, { petId, quantity, complete, cancelled: false });
  }

  cancel(order: Order): void {
    this.enter(order);
    this.orders.get(order.id)!.cancelled = true;
  }

  /** Everything that differs between the books and the database: lost, done twice, or done and never answered. */
  differences(databaseUrl: string): Promise<unknown[]> {
    return withClient(databaseUrl, async (client) => [
      ...difference(this.orders, await ordersIn(client)),
      ...difference(this.pets, await petsIn(client)),
      ...difference(this.stockLeft(), await stockIn(client, [...this.stock.keys()])),
    ]);
  }

  private stockLeft(): Map<number, number> {
    const left = new Map(this.stock);
    for (const { petId, quantity, cancelled } of this.orders.values()) {
      if (!cancelled) left.set(petId, left.get(petId)! - quantity);
    }
    return left;
  }
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function difference<Value>(booked: Map<number, Value>, there: Map<number, Value>): unknown[] {
  return [...new Set([...booked.keys(), ...there.keys()])]
    .map((id) => ({ id, booked: booked.get(id), there: there.get(id) }))
    .filter((entry) => JSON.stringify(entry.booked) !== JSON.stringify(entry.there));
}

async function ordersIn(client: Client): Promise<Map<number, BookedOrder>> {
  const { rows } = await client.query<BookedOrder & { id: string }>(
    `SELECT id, pet_id::int AS "petId", quantity, complete, cancelled_at IS NOT NULL AS cancelled FROM orders`,
  );
  return new Map(rows.map(({ id, ...order }) => [Number(id), order]));
}

async function petsIn(client: Client): Promise<Map<number, string | null>> {
  const { rows } = await client.query<{ id: string; name: string | null }>(
    `SELECT id, CASE WHEN deleted_at IS NULL THEN name END AS name FROM pets`,
  );
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
}

async function stockIn(client: Client, pets: number[]): Promise<Map<number, number>> {
  const { rows } = await client.query<{ pet_id: string; quantity: number }>(
    `SELECT pet_id, quantity FROM inventory WHERE pet_id = ANY($1)`,
    [pets],
  );
  return new Map(rows.map(({ pet_id, quantity }) => [Number(pet_id), quantity]));
}
