import { OrdersService } from '../../../../src/modules/orders';
import type { NewOrderDto, OrderDto } from '../../../../src/modules/orders/orders.dto';
import { type InventoryItem, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { useStore } from '../../../support/use-service';
import { lockWaits, whileLocked } from '../../../support/while-locked';

describe('concurrent commands', () => {
  const { service, caller, arrange } = useStore();

  const place = (body: NewOrderDto): Promise<OrderDto> =>
    service.app.get(OrdersService).place(body, { owner: 1 });
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  async function petsWith(stock: number, count: number): Promise<number[]> {
    const pets: number[] = [];
    while (pets.length < count) {
      pets.push((await arrange.pet(aPet(), stock)).id);
    }
    return pets;
  }

  /** How many transactions wrote these orders. */
  async function transactionsOf(orders: OrderDto[]): Promise<number> {
    const { rows } = await service.database.pool.query<{ transactions: number }>(
      `SELECT count(DISTINCT xmin::text)::int AS transactions FROM orders WHERE id = ANY($1)`,
      [orders.map(({ id }) => id)],
    );
    return rows[0]!.transactions;
  }

  it('share a transaction, and each gets its own result', async () => {
    const pets = await petsWith(10, 20);
    const bodies = pets.map((petId, index) => ({
      petId,
      quantity: 1 + (index % 5),
      complete: index % 3 === 0,
      ...(index % 2 === 0 ? { shipDate: `2026-12-${10 + index}T09:30:00.000Z` } : {}),
    }));
    const orders = await Promise.all(bodies.map((body) => place(body)));
    expect(orders.map(({ id, ...order }) => [typeof id, order])).toEqual(
      bodies.map((body) => ['number', body]),
    );
    expect(await transactionsOf(orders)).toBe(1);
    for (const order of orders) {
      expect((await caller.get(`/store/orders/${order.id}`)).body).toEqual(order);
      expect(await inventory(order.petId)).toMatchObject({
        quantity: 10 - order.quantity,
        status: 'available',
      });
    }
  });

  it('do not wait for a command whose pet another transaction has locked', async () => {
    const [held, ...free] = await petsWith(5, 6);
    const { waiting } = await whileLocked(service.database.pool, held!, async () => {
      const order = place({ petId: held! });
      // In the same batch as the one that waits, and after it.
      const first = await Promise.all(free.map((petId) => place({ petId })));
      const later = await Promise.all(free.map((petId) => place({ petId })));
      expect(await transactionsOf(first)).toBe(1);
      expect(await transactionsOf(later)).toBe(1);
      expect(await inventory(held!)).toMatchObject({ quantity: 5 });
      return { waiting: order };
    });
    await waiting;
    expect(await inventory(held!)).toMatchObject({ quantity: 4 });
  });

  it('survive a lost connection, and leave nothing behind', async () => {
    const [held] = await petsWith(5, 1);
    const { pool } = service.database;
    await whileLocked(pool, held!, async () => {
      const order = place({ petId: held! }).catch(({ message }: Error) => message);
      await until(async () => (await lockWaits(pool)) > 0);
      await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(await order).toMatch(/terminat/i);
    });
    await place({ petId: held! });
    expect(await inventory(held!)).toMatchObject({ quantity: 4 });
  });

  it('do not fail with a command that the database rejects', async () => {
    const [broken, ...sound] = await petsWith(5, 6);
    const { pool } = service.database;
    await pool.query(`
      CREATE SEQUENCE failures;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('failures'); RAISE EXCEPTION 'broken'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.pet_id = ${broken}) EXECUTE FUNCTION fail();`);
    const outcomes = await Promise.allSettled([broken!, ...sound].map((petId) => place({ petId })));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...sound.map(() => 'fulfilled')]);
    for (const petId of sound) {
      expect(await inventory(petId)).toMatchObject({ quantity: 4 });
    }
    expect(await inventory(broken!)).toMatchObject({ quantity: 5 });
    // A sequence does not roll back: it failed with all others, with half of them, and so on.
    const { rows } = await pool.query<{ count: string }>(`SELECT last_value AS count FROM failures`);
    expect(Number(rows[0]!.count)).toBe(4);
    await pool.query('DROP TRIGGER fail ON orders');
  });
});
