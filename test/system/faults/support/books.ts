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
  /** What had happened when the books began. */
  private earlier: ReadonlySet<string> = new Set();

  /** @param databaseUrl of a store that nobody changes at the moment; what is there already goes into the books */
  static async begin(databaseUrl: string): Promise<Books> {
    const books = new Books();
    await withClient(databaseUrl, async (client) => {
      (await ordersIn(client)).forEach((order, id) => books.orders.set(id, order));
      (await petsIn(client)).forEach((name, id) => books.pets.set(id, name));
    });
    books.earlier = new Set(books.happened().keys());
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
      ...difference(this.happened(), await eventsIn(client)),
    ]);
  }

  /** How often each event has to be in the feed: once, if it was not there before. */
  private happened(): Map<string, number> {
    const events = [
      ...[...this.orders].flatMap(([id, { cancelled }]) => [
        `order.placed ${id}`,
        ...(cancelled ? [`order.cancelled ${id}`] : []),
      ]),
      ...[...this.pets].flatMap(([id, name]) => [
        `pet.created ${id}`,
        ...(name === null ? [`pet.deleted ${id}`] : []),
      ]),
    ];
    return new Map(events.filter((event) => !this.earlier.has(event)).map((event) => [event, 1]));
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

function difference<Id, Value>(booked: Map<Id, Value>, there: Map<Id, Value>): unknown[] {
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

/** How often each event of `Books.happened` is in the feed. */
async function eventsIn(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ event: string; count: number }>(
    `SELECT concat_ws(' ', event ->> 'type', event -> 'data' ->> 'id') AS event, count(*)::int AS count
     FROM event_blocks, json_array_elements(events::json) AS event
     WHERE event ->> 'type' IN ('order.placed', 'order.cancelled', 'pet.created', 'pet.deleted')
     GROUP BY 1`,
  );
  return new Map(rows.map(({ event, count }) => [event, count]));
}

async function stockIn(client: Client, pets: number[]): Promise<Map<number, number>> {
  const { rows } = await client.query<{ pet_id: string; quantity: number }>(
    `SELECT pet_id, quantity FROM inventory WHERE pet_id = ANY($1)`,
    [pets],
  );
  return new Map(rows.map(({ pet_id, quantity }) => [Number(pet_id), quantity]));
}
