import type { Pool } from 'pg';
import { DataSource, getMetadataArgsStorage } from 'typeorm';
import { poolOf } from '#libs/database';
import { FEATURES } from '../../../../src/features';
import { DeprecatedCalls } from '../../../../src/modules/deprecations/deprecated-calls';
import { EventReader, MAX_SEARCHED } from '../../../../src/modules/events/event-reader';
import { DeliveryQueue, type LeasedDelivery } from '../../../../src/modules/webhooks/delivery/delivery-queue';
import { DeliveryWorker } from '../../../../src/modules/webhooks/delivery/delivery-worker';
import { QuotaRecords } from '../../../../src/modules/quotas/counters/quota-records';
import { pagesOf } from '../../../support/api-caller';
import { Arrange, type Pet, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import type { TestService } from '../../../support/service';
import { useDatabase } from '../../../support/test-database';
import { useStore } from '../../../support/use-service';
import { Follower } from '../../modules/events/support/feed';
import {
  EVENTS_PAGES,
  INVENTORY_PAGES,
  PAGES,
  SEARCHED_PAGES,
  SINGLE_READS,
  STORE,
  fillLargeStore,
} from './support/large-store';

// The number of rows that a request reads must not grow with the store.

/** Tables that the service also reads by itself, to look up keys and to deliver events. */
const READ_BY_THE_SERVICE = ['clients', 'webhooks', 'webhook_deliveries'];
const WRITTEN_ENTITIES = new Set<unknown>(
  FEATURES.flatMap(({ tables = [] }) => tables).map(({ entity }) => entity),
);
/** The tables that commands write, without READ_BY_THE_SERVICE, and the table of stored responses. */
const STORE_TABLES = getMetadataArgsStorage()
  .tables.filter(({ target }) => WRITTEN_ENTITIES.has(target))
  .map(({ name }) => name!)
  .filter((name) => !READ_BY_THE_SERVICE.includes(name))
  .concat('idempotency_records');
/** A page has 20 rows. One more is read, to see whether a page follows. This may happen once for each of the three statuses. */
const PAGE_ROWS = 3 * 21;
/** Each entry of the inventory is a pet and its stock. */
const INVENTORY_ROWS = 2 * PAGE_ROWS;
/** How many names a page may search for pets of a status or a category, and one more. */
const SEARCHED_ROWS = 2_001;
/** Few connections, because the statistics of each one are collected after every request. */
const settings = { databasePool: 2 };

/** How much was read of some tables. */
interface RowsRead {
  /** The number of rows and index entries, including those that did not pass a filter. */
  rows: number;
  /** Tables that were read from one end to the other. */
  scanned: string[];
}

type Counts = Map<string, { scans: number; rows: number }>;

const COUNTS = `SELECT relname AS "table", seq_scan::int AS scans,
    (seq_tup_read + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid))::int AS rows
  FROM pg_stat_user_tables AS t WHERE relname = ANY($1)`;

/** Runs a statement on as many connections as the pool may have, so that it waits for connections that are in use. */
async function onEach(pool: Pool, statement: string): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  await Promise.all(clients.map((client) => client.query(statement)));
  clients.forEach((client) => client.release());
}

/** Runs a statement on each connection that the service has. */
function onEachConnection({ app }: TestService, statement: string): Promise<void> {
  return onEach(poolOf(app.get(DataSource)), statement);
}

const SESSIONS = `SELECT count(*)::int AS sessions FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend'`;

/** The statistics of PostgreSQL, which a session publishes on demand, and when the session ends. */
async function countsOf(service: TestService, tables: readonly string[]): Promise<Counts> {
  const { pool } = service.database;
  // Otherwise the reads of the test itself would be counted later.
  await onEach(pool, 'SELECT pg_stat_force_next_flush()');
  await onEachConnection(service, 'SELECT pg_stat_force_next_flush()');
  // The session of a connection that a pool has closed ends a moment later.
  await until(async () => {
    const { rows } = await pool.query<{ sessions: number }>(SESSIONS);
    return rows[0]!.sessions === pool.totalCount + poolOf(service.app.get(DataSource)).totalCount;
  });
  const { rows } = await pool.query<{ table: string; scans: number; rows: number }>(COUNTS, [tables]);
  return new Map(rows.map(({ table, ...counts }) => [table, counts]));
}

/** The rows of these tables that the service really reads for each work, whatever the plans of its statements say. */
async function rowsReadByEach(
  service: TestService,
  tables: readonly string[],
  works: (() => Promise<unknown>)[],
): Promise<RowsRead[]> {
  const found: RowsRead[] = [];
  let before = await countsOf(service, tables);
  for (const work of works) {
    await work();
    const after = await countsOf(service, tables);
    const changes = [...after].map(([table, { scans, rows }]) => {
      const { scans: scansBefore, rows: rowsBefore } = before.get(table)!;
      return { table, scans: scans - scansBefore, rows: rows - rowsBefore };
    });
    found.push({
      rows: changes.reduce((sum, { rows }) => sum + rows, 0),
      scanned: changes.filter(({ scans }) => scans > 0).map(({ table }) => table),
    });
    before = after;
  }
  return found;
}

// The store is large enough that the planner prefers indexes. Its rows are not spread evenly, which planners assume: whole ranges
// of ids are deleted, and rare rows come last.
describe('in a large store', () => {
  const database = useDatabase();
  beforeAll(() => fillLargeStore(database.pool));
  const { service, caller } = useStore(() => ({ database, settings }));
  // The worker looks for events and due deliveries about once a second. Its reads would be taken for those of a request.
  beforeAll(() => service.app.get(DeliveryWorker).onModuleDestroy());

  async function expectAtMost(
    most: number,
    works: (() => Promise<unknown>)[],
    { tables = STORE_TABLES } = {},
  ): Promise<void> {
    for (const { rows, scanned } of await rowsReadByEach(service, tables, works)) {
      expect({ scanned, rows: Math.max(rows, most) }).toEqual({ scanned: [], rows: most });
    }
  }

  const getting = (...targets: string[]) => targets.map((target) => () => caller.get(target));

  it.each([
    ...PAGES.map((targets) => ({ targets, most: PAGE_ROWS })),
    ...INVENTORY_PAGES.map((targets) => ({ targets, most: INVENTORY_ROWS })),
    ...SEARCHED_PAGES.map((targets) => ({ targets, most: SEARCHED_ROWS })),
  ])('GET $targets.0, and from deep inside, reads $most rows at most', ({ targets, most }) =>
    expectAtMost(most, getting(...targets)),
  );

  it('GET /pets?name= ends its page early where a status is rare, and Link goes on to all that have it', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      `SELECT id FROM pets WHERE status = 'pending' AND name LIKE 'Common%' ORDER BY lower(name) COLLATE "C", id`,
    );
    const pages = await pagesOf<Pet>(caller, '/pets?name=common&status=pending');
    // Half of the names in the store begin with Common, and a page searches 2,000 names.
    expect(pages).toHaveLength((STORE.pets - STORE.gone) / 2 / 2_000);
    expect(pages[0]).toEqual([]);
    expect(pages.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => Number(id)));
  });

  it.each(EVENTS_PAGES)('GET %s looks at %i events at most', async (target, most) => {
    await expectAtMost(most, getting(target), { tables: ['events'] });
  });

  it('The newest events that match are looked for among 20,000', async () => {
    const newest = (petId: number) => service.app.get(EventReader).newest({ petId }, 20);
    const miss = async () => expect(await newest(STORE.events - MAX_SEARCHED)).toEqual([]);
    await expectAtMost(MAX_SEARCHED, [miss], { tables: ['events'] });
    // Other tests add less than a hundred events.
    expect(await newest(STORE.events - MAX_SEARCHED + 100)).toHaveLength(1);
  });

  it('A filter that matches nothing leads to the end of the feed, and later events are found', async () => {
    const { rows } = await database.pool.query<{ commits: number }>(
      'SELECT count(*)::int AS commits FROM events',
    );
    const follower = new Follower('/events?type=order.updated');
    const targets: string[] = [];
    while (targets.at(-1) !== follower.target) {
      targets.push(follower.target);
      expect(await follower.read(caller)).toEqual([]);
    }
    expect(targets.length).toBe(1 + Math.ceil(rows[0]!.commits / MAX_SEARCHED));
    const arrange = new Arrange(caller);
    const { id } = await arrange.order((await arrange.pet(aPet(), 3)).id);
    await caller.patch(`/store/orders/${id}`, { shipDate: '2026-12-01T00:00:00Z' });
    expect((await follower.read(caller)).map(({ data }) => data)).toMatchObject([{ id }]);
  });

  it('A single resource is one row, and a stock is its pet and its count', async () => {
    await expectAtMost(1, getting(...SINGLE_READS));
    await expectAtMost(2, getting('/store/inventory/14000'));
  });

  it('A page of the deliveries of one webhook reads no deliveries of others', async () => {
    const body = { url: 'https://shop.example/events', enabled: false };
    const [first] = await Promise.all(
      Array.from({ length: 5 }, () => caller.post<{ id: number }>('/webhooks', body)),
    );
    await database.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
       SELECT webhooks.id, 'evt_' || n, 'pet.deleted', CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'delivered' END, 1,
         now(), now() FROM webhooks, generate_series(1, 4000) AS n`,
    );
    await database.pool.query(`ANALYZE webhook_deliveries`);
    const path = `/webhooks/${first!.body.id}/deliveries`;
    const targets = getting(path, `${path}?status=failed`);
    await expectAtMost(PAGE_ROWS, targets, { tables: ['webhook_deliveries'] });
  });

  it('The outcome of a delivery is recorded without reading the others that are pending', async () => {
    const body = { url: 'https://shop.example/events', enabled: false };
    const { id } = (await caller.post<{ id: number }>('/webhooks', body)).body;
    const add = (status: string) =>
      database.pool.query<LeasedDelivery>(
        `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at, leased_until)
         SELECT $1, 'evt_' || n, 'pet.deleted', $2, 0, now(), now(), CASE n WHEN 1 THEN date_trunc('second', now()) END
         FROM generate_series(1, 4000) AS n RETURNING id, webhook_id AS "webhookId", leased_until AS "leasedUntil"`,
        [id, status],
      );
    // By these statistics, which know no pending delivery, an index of pending deliveries alone looks the cheapest.
    await add('failed');
    await database.pool.query('ANALYZE webhook_deliveries');
    const { rows } = await add('pending');
    const delivery = { ...rows[0]!, url: body.url, attempt: { status: 204, error: null, isQuick: true } };
    const turn = { finished: [delivery], sending: [], mayLease: false };
    const record = () => service.app.get(DeliveryQueue).recordAndLease(turn);
    await expectAtMost(PAGE_ROWS, [record], { tables: ['webhook_deliveries'] });
    const { body: delivered } = await caller.get(`/webhooks/${id}/deliveries?status=delivered`);
    expect(delivered).toHaveLength(1);
  });

  it('Keys and clients are found by index, also where counts and deprecated calls are saved', async () => {
    const stranger = await service.caller();
    const work = async () => {
      await stranger.get('/pets/1');
      await stranger.get('/rate-limit');
      await service.app.get(QuotaRecords).flush();
      await service.app.get(DeprecatedCalls).onApplicationShutdown();
    };
    await expectAtMost(30, [work], { tables: ['api_keys', 'clients', 'usage_days'] });
    expect((await database.pool.query('SELECT FROM deprecated_calls')).rowCount).toBeGreaterThan(0);
  });

  it('No write scans a table, and neither does a foreign key check', async () => {
    const arrange = new Arrange(caller);
    const statuses: number[] = [];
    const work = async () => {
      const pet = await arrange.pet(aPet(), 3);
      const { id: unused } = await arrange.category('Dragons');
      const order = await arrange.order(pet.id);
      const adjusting = caller.with({ 'Idempotency-Key': 'once' });
      for (const { status } of [
        await caller.put(`/categories/${pet.categoryId}`, { name: 'Cats' }),
        await caller.delete(`/categories/${pet.categoryId}`),
        await caller.delete(`/categories/${unused}`),
        await caller.patch(`/pets/${pet.id}`, { name: 'Ada' }),
        await caller.put(`/pets/${pet.id}`, { name: 'Ada', categoryId: pet.categoryId }),
        await adjusting.post(`/store/inventory/${pet.id}/adjustments`, { delta: 2 }),
        await caller.delete(`/pets/${pet.id}`),
        await caller.patch(`/store/orders/${order.id}`, { complete: true }),
        await caller.delete(`/store/orders/${(await arrange.order(pet.id)).id}`),
        await caller.delete(`/pets/${pet.id}`),
      ]) {
        statuses.push(status);
      }
    };
    await expectAtMost(300, [work]);
    expect(statuses).toEqual([200, 409, 204, 200, 200, 200, 409, 200, 204, 204]);
  });
});

describe('in a new store', () => {
  const { service, caller } = useStore({ settings });
  const PETS = 10_000;
  /** With a few hundred pets, the planner estimates the same cost for walking an index and for sorting. */
  const FEW = 300;

  const change = (...statements: string[]) => service.database.pool.query(statements.join('; '));

  const fill = (count: number) =>
    change(
      `INSERT INTO categories (name) SELECT 'category ' || n FROM generate_series(1, ${count}) n`,
      `WITH new AS (INSERT INTO pets (name, category_id, status)
         SELECT 'pet ' || n, 1, 'available' FROM generate_series(1, ${count}) n RETURNING id)
       INSERT INTO inventory (pet_id, stock) SELECT id, 1 FROM new`,
      `INSERT INTO orders (pet_id, quantity) SELECT 1, 1 FROM generate_series(1, ${count})`,
    );
  const updateAll = () =>
    change(
      `UPDATE pets SET name = name || '!'`,
      `UPDATE inventory SET stock = stock + 1`,
      `UPDATE orders SET quantity = quantity + 1`,
    );

  /** Targets of pages and of single resources. */
  const TARGETS = [
    '/pets /pets?status=available /pets?status=available&status=pending&status=sold /pets?categoryId=1',
    '/pets?categoryId=1&status=available /pets?name=PET /pets?name=pet&categoryId=1&status=available',
    '/pets?name=pet&id=7&id=200 /pets?name=nobody /categories /categories?name=category /store/inventory',
    '/store/inventory?status=available /store/orders /store/orders?complete=false',
    '/store/orders?petId=1&complete=false /pets/200 /categories/1 /store/orders/200 /store/inventory/200',
  ].flatMap((line) => line.split(' '));

  /** The requests that read more rows than a page needs, or a whole table. */
  async function excessive(): Promise<unknown[]> {
    const works = TARGETS.map((target) => () => caller.get(target));
    return (await rowsReadByEach(service, STORE_TABLES, works))
      .map((read, index) => ({ target: TARGETS[index], ...read }))
      .filter(({ target, rows, scanned }) => {
        const most = target!.startsWith('/store/inventory') ? INVENTORY_ROWS : PAGE_ROWS;
        return rows > most || scanned.length > 0;
      });
  }

  it('finds a kept response by its key, with a plan that was made while it was the only one', async () => {
    const used = caller.with({ 'Idempotency-Key': 'used' });
    const ask = () => used.post('/store/orders', { petId: 1_000_000_000 });
    const read = async () => (await rowsReadByEach(service, ['idempotency_records'], [ask]))[0]!.rows;
    await ask();
    await change(
      'ALTER TABLE idempotency_records SET (autovacuum_enabled = false)',
      'ANALYZE idempotency_records',
    );
    await read();
    await read();
    await change(
      `INSERT INTO idempotency_records SELECT 'kept ' || n, fingerprint, status, body
       FROM (SELECT * FROM idempotency_records LIMIT 1) AS kept, generate_series(1, ${PETS}) n`,
    );
    expect([await read(), await read()]).toEqual([1, 1]);
  });

  // The tables are never analysed. Statements are prepared while they are empty, and the plans are kept while they grow.
  it('plans that were made on empty tables read no more rows than a page needs while it grows and changes', async () => {
    await change(...STORE_TABLES.map((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`));
    // When a statement has run five times, PostgreSQL may use one plan for all values.
    for (let time = 0; time < 8; time += 1) {
      await Promise.all(TARGETS.map((target) => caller.get(target)));
    }
    for (const grow of [() => fill(FEW), () => fill(PETS - FEW), updateAll]) {
      await grow();
      expect(await excessive()).toEqual([]);
      // From now on, each statement gets a new plan for the store as it is.
      await onEachConnection(service, 'DISCARD PLANS');
      expect(await excessive()).toEqual([]);
    }
    const sorting = () => onEachConnection(service, 'SELECT id FROM pets ORDER BY name LIMIT 21');
    const [sorted] = await rowsReadByEach(service, STORE_TABLES, [sorting]);
    expect(sorted!.rows).toBeGreaterThan(PETS);
  });
});
