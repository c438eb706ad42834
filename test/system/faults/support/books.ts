import type { Order } from '../../../support/builders';
import { query } from '../../../support/query';

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
    (await ordersIn(databaseUrl)).forEach((order, id) => books.orders.set(id, order));
    (await petsIn(databaseUrl)).forEach((name, id) => books.pets.set(id, name));
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
  async differences(databaseUrl: string): Promise<unknown[]> {
    return [
      ...difference(this.orders, await ordersIn(databaseUrl)),
      ...difference(this.pets, await petsIn(databaseUrl)),
      ...difference(this.stockLeft(), await stockIn(databaseUrl, [...this.stock.keys()])),
      ...difference(this.happened(), await this.eventsSince(databaseUrl)),
    ];
  }

  private async eventsSince(databaseUrl: string): Promise<Map<string, number>> {
    return new Map([...(await eventsIn(databaseUrl))].filter(([event]) => !this.earlier.has(event)));
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
      if (!cancelled && left.has(petId)) left.set(petId, left.get(petId)! - quantity);
    }
    return left;
  }
}

function difference<Id, Value>(booked: Map<Id, Value>, there: Map<Id, Value>): unknown[] {
  return [...new Set([...booked.keys(), ...there.keys()])]
    .map((id) => ({ id, booked: booked.get(id), there: there.get(id) }))
    .filter((entry) => JSON.stringify(entry.booked) !== JSON.stringify(entry.there));
}

async function ordersIn(url: string): Promise<Map<number, BookedOrder>> {
  const rows = await query<BookedOrder & { id: string }>(
    url,
    `SELECT id, pet_id::int AS "petId", quantity, complete, cancelled_at IS NOT NULL AS cancelled FROM orders`,
  );
  return new Map(rows.map(({ id, ...order }) => [Number(id), order]));
}

async function petsIn(url: string): Promise<Map<number, string | null>> {
  const rows = await query<{ id: string; name: string | null }>(
    url,
    `SELECT id, CASE WHEN deleted_at IS NULL THEN name END AS name FROM pets`,
  );
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
}

/** How often each event of `Books.happened` is in the feed. */
async function eventsIn(url: string): Promise<Map<string, number>> {
  const rows = await query<{ event: string; count: number }>(
    url,
    `SELECT concat_ws(' ', type, data::json ->> 'id') AS event, count(*)::int AS count
     FROM events WHERE type IN ('order.placed', 'order.cancelled', 'pet.created', 'pet.deleted')
     GROUP BY 1`,
  );
  return new Map(rows.map(({ event, count }) => [event, count]));
}

async function stockIn(url: string, pets: number[]): Promise<Map<number, number>> {
  const rows = await query<{ pet_id: string; quantity: number }>(
    url,
    `SELECT pet_id, quantity FROM inventory WHERE pet_id = ANY($1)`,
    [pets],
  );
  return new Map(rows.map(({ pet_id, quantity }) => [Number(pet_id), quantity]));
}
