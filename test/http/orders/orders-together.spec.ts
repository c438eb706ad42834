import type { Answer, ApiClient } from '../../support/api-client';
import { Arrange, type InventoryItem, type Order, aPet } from '../../support/builders';
import { until } from '../../support/service-process';
import { useService } from '../../support/use-service';
import { whileLocked } from '../../support/while-locked';

describe('orders that come at the same time', () => {
  const service = useService();
  let caller: ApiClient;
  let arrange: Arrange;

  beforeAll(async () => {
    caller = await service.caller();
    arrange = new Arrange(caller);
  });

  const place = (body: Partial<Order>) => caller.post<Order>('/store/orders', body);
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  async function petsWith(stock: number, count: number): Promise<number[]> {
    const pets: number[] = [];
    while (pets.length < count) {
      pets.push((await arrange.pet(aPet(), stock)).id);
    }
    return pets;
  }

  /** How many transactions wrote the orders of these answers. */
  async function transactionsOf(answers: Answer<Order>[]): Promise<number> {
    const { rows } = await service.database.pool.query<{ transactions: number }>(
      `SELECT count(DISTINCT xmin::text)::int AS transactions FROM orders WHERE id = ANY($1)`,
      [answers.map(({ body }) => body.id)],
    );
    return rows[0]!.transactions;
  }

  async function waitingForLocks(): Promise<number> {
    const { rows } = await service.database.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]!.count;
  }

  it('share transactions, and each is answered with its own', async () => {
    const pets = await petsWith(10, 40);
    const bodies = pets.map((petId, index) => ({
      petId,
      quantity: 1 + (index % 5),
      complete: index % 3 === 0,
      ...(index % 2 === 0 ? { shipDate: `2026-12-${10 + (index % 20)}T09:30:00.000Z` } : {}),
    }));
    const answers = await Promise.all(bodies.map(place));
    expect(answers.map(({ status, body: { id, ...order } }) => [status, typeof id, order])).toEqual(
      bodies.map((body) => [201, 'number', body]),
    );
    expect(await transactionsOf(answers)).toBeLessThan(20);
    for (const { body } of answers) {
      expect((await caller.get<Order>(`/store/orders/${body.id}`)).body).toEqual(body);
      expect(await inventory(body.petId)).toMatchObject({
        quantity: 10 - body.quantity,
        status: 'available',
      });
    }
  });

  it('of one pet share transactions, too', async () => {
    const [petId] = await petsWith(200, 1);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => place({ petId: petId!, quantity: 1 + (index % 3) })),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(60);
    expect(await transactionsOf(answers)).toBeLessThan(30);
    expect(await inventory(petId!)).toEqual({ petId, quantity: 80, status: 'available' });
  });

  it('are refused one by one, each for its own reason', async () => {
    const plenty = await petsWith(5, 10);
    const [scarce, pending, last] = await Promise.all(
      [2, 9, 1].map(async (stock) => (await arrange.pet(aPet(), stock)).id),
    );
    await caller.patch(`/pets/${pending}`, { status: 'pending' });
    const answers = await Promise.all([
      ...plenty.map((petId) => place({ petId })),
      place({ petId: scarce!, quantity: 3 }),
      place({ petId: pending! }),
      place({ petId: 999_999 }),
      place({ petId: last!, complete: true }),
    ]);
    const outcomes = answers.map(({ status, body }) => (body as { code?: string }).code ?? status);
    expect(outcomes).toEqual([
      ...plenty.map(() => 201),
      'insufficient_stock',
      'pet_not_available',
      'unknown_pet',
      201,
    ]);
    expect(await inventory(scarce!)).toMatchObject({ quantity: 2, status: 'available' });
    expect(await inventory(pending!)).toMatchObject({ quantity: 9, status: 'pending' });
    expect(await inventory(last!)).toMatchObject({ quantity: 0, status: 'sold' });
  });

  it('do not wait for one whose pet somebody else has locked', async () => {
    const [held, ...free] = await petsWith(5, 11);
    const { waiting } = await whileLocked(service.database.pool, held!, async () => {
      const order = place({ petId: held! });
      // In the same turn as the one that waits, and after it.
      const first = await Promise.all(free.map((petId) => place({ petId })));
      const later = await Promise.all(free.map((petId) => place({ petId })));
      expect([...first, ...later].every(({ status }) => status === 201)).toBe(true);
      expect(await transactionsOf([...first, ...later])).toBeLessThan(20);
      expect(await inventory(held!)).toMatchObject({ quantity: 5 });
      return { waiting: order };
    });
    expect((await waiting).status).toBe(201);
    expect(await inventory(held!)).toMatchObject({ quantity: 4 });
  });

  it('of a pet that somebody else has locked wait for it together', async () => {
    const [held] = await petsWith(100, 1);
    const { waiting } = await whileLocked(service.database.pool, held!, async () => {
      const orders = Array.from({ length: 40 }, () => place({ petId: held! }));
      await until(async () => (await waitingForLocks()) > 0);
      return { waiting: orders };
    });
    const answers = await Promise.all(waiting);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(await transactionsOf(answers)).toBeLessThan(20);
    expect(await inventory(held!)).toMatchObject({ quantity: 60 });
  });

  it('are placed one by one where they would take more than there is', async () => {
    const [petId] = await petsWith(10, 1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => place({ petId: petId! })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(201), ...Array<number>(10).fill(409)]);
    expect(await inventory(petId!)).toEqual({ petId, quantity: 0, status: 'pending' });
  });

  it('do not fail with one that fails', async () => {
    const [broken, ...sound] = await petsWith(5, 11);
    const { pool } = service.database;
    await pool.query(`
      CREATE SEQUENCE failures;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('failures'); RAISE EXCEPTION 'broken'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.pet_id = ${broken}) EXECUTE FUNCTION fail();`);
    const answers = await Promise.all([broken!, ...sound].map((petId) => place({ petId })));
    expect(answers.map(({ status }) => status)).toEqual([500, ...sound.map(() => 201)]);
    for (const petId of sound) {
      expect(await inventory(petId)).toMatchObject({ quantity: 4 });
    }
    expect(await inventory(broken!)).toMatchObject({ quantity: 5 });
    // A sequence does not roll back: it failed with others first, and then alone.
    const { rows } = await pool.query<{ count: string }>(`SELECT last_value AS count FROM failures`);
    expect(Number(rows[0]!.count)).toBe(2);
    await pool.query('DROP TRIGGER fail ON orders');
  });
});
