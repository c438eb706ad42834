import type { Answer, ApiClient } from '../../support/api-client';
import { Arrange, type Pet, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { LOOKED_AT } from '../../../src/modules/events/event-reader';
import { Follower } from '../events/support/feed';
import { fillLargeStore } from './support/large-store';
import { plainPage } from './support/plain-page';
import { type Reading, readingOf } from './support/plans';
import {
  EVENTS_PAGES,
  NAMED_CATEGORIES_PAGES,
  NAMED_PETS_PAGES,
  OTHER_PAGES,
  PETS_PAGES,
  SINGLE_READS,
} from './support/requests';
import { RecordedStatements } from './support/recorded-statements';
import { SCANNED, scansDuring } from './support/scans';

// What a request reads must not grow with the store. Here the statements that the service really sends are explained in a
// store that is large enough for the planner to care, and unfair to whoever bets on rows being evenly spread: whole ranges
// of ids are deleted, and what is rare comes last.

/** A page has 20 rows; one more is read to see whether others follow, and for each status at most, from pets and stock. */
const PAGE_ROWS = 3 * 2 * 21;
/** Up to 2,000 rows with a name are looked up in the index; they are read, or as many of the list for each status. */
const NAMED_ROWS = 4 * 2_001 + PAGE_ROWS;

let database: TestDatabase;
let service: TestService;
let caller: ApiClient;
let statements: RecordedStatements;

beforeAll(async () => {
  database = await createTestDatabase();
  await fillLargeStore(database.pool);
  statements = new RecordedStatements();
  service = await startService({ database });
  caller = await service.caller();
  await caller.get('/pets');
});

afterAll(async () => {
  statements?.stop();
  await service?.close();
  await database?.drop();
});

/** What the statements of a request read: planned for their values and, where they are prepared, for any. */
async function readingsOf(target: string, by = caller, asSent = false): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const statement of await statements.during(() => by.get(target))) {
    readings.push(await readingOf(database.pool, statement, { asSent }));
    if (statement.name !== undefined) {
      readings.push(await readingOf(database.pool, statement, { generic: true }));
    }
  }
  return readings;
}

function expectAtMost(rows: number, readings: Reading[]): void {
  expect(readings.some(({ plan }) => plan !== '')).toBe(true);
  expect(readings.filter((reading) => reading.rows > rows || reading.scannedTables.length > 0)).toEqual([]);
}

it.each([...PETS_PAGES, ...NAMED_PETS_PAGES])('GET %s returns the right page', async (target) => {
  const { body } = await caller.get<Pet[]>(target);
  expect(body.map(({ id }) => id)).toEqual(await plainPage(database.pool, target));
});

it.each([...PETS_PAGES, ...OTHER_PAGES])('GET %s reads no more rows than a page needs', async (target) => {
  expectAtMost(PAGE_ROWS, await readingsOf(target));
});

it.each([...NAMED_PETS_PAGES, ...NAMED_CATEGORIES_PAGES])(
  'GET %s reads no more rows than one name can have',
  async (target) => {
    expectAtMost(NAMED_ROWS, await readingsOf(target, caller, true));
  },
);

it('GET /pets?name= ends its page early where a frequent name is rare, and Link goes on to all of them', async () => {
  const { rows } = await database.pool.query<{ id: string }>(
    `UPDATE pets SET name = 'Late ' || id WHERE id > 70000 AND id % 2 = 1 RETURNING id`,
  );
  const late = rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
  const found: number[] = [];
  let target: string | undefined = '/pets?name=late&limit=100';
  for (let pages = 0; target !== undefined && found.length < 300; pages += 1) {
    if (pages < 2) {
      expectAtMost(NAMED_ROWS, await readingsOf(target, caller, true));
    }
    const answer: Answer<Pet[]> = await caller.get<Pet[]>(target);
    found.push(...answer.body.map(({ id }) => id));
    target = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  expect(late.length).toBeGreaterThan(2_000);
  expect(found).toEqual(late.slice(0, found.length));
  expect(found.length).toBeGreaterThanOrEqual(300);
});

it.each(EVENTS_PAGES)('GET %s reads no more than %i events', async (target, most) => {
  expectAtMost(most, await readingsOf(target));
});

it('A page of the deliveries of one webhook reads no deliveries of others', async () => {
  const [first] = await Promise.all(
    Array.from({ length: 5 }, () =>
      caller.post<{ id: number }>('/webhooks', { url: 'https://shop.example/events', enabled: false }),
    ),
  );
  await database.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
     SELECT webhooks.id, 'evt_' || n, 'pet.deleted', CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'delivered' END, 1,
       now(), now() FROM webhooks, generate_series(1, 4000) AS n`,
  );
  await database.pool.query(`ANALYZE webhook_deliveries`);
  const path = `/webhooks/${first!.body.id}/deliveries`;
  for (const target of [path, `${path}?status=failed`, `${path}?status=pending`]) {
    // The five webhooks themselves may be scanned.
    const readings = (await readingsOf(target)).filter(({ plan }) => plan.includes('webhook_deliveries'));
    expectAtMost(PAGE_ROWS, readings);
  }
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
  expect(targets.length).toBe(1 + Math.ceil(rows[0]!.commits / LOOKED_AT));
  const arrange = new Arrange(caller);
  const { id } = await arrange.order((await arrange.pet(aPet(), 3)).id);
  await caller.patch(`/store/orders/${id}`, { shipDate: '2026-12-01T00:00:00Z' });
  expect((await follower.read(caller)).map(({ data }) => data)).toMatchObject([{ id }]);
});

it.each(SINGLE_READS)('GET %s reads one row per table', async (target) => {
  expectAtMost(2, await readingsOf(target));
});

it("A key, its client's usage and its ban are found by index, however many exist today", async () => {
  const readings = await readingsOf('/rate-limit', await service.caller());
  const plans = readings.map(({ plan }) => plan).join();
  for (const table of ['api_keys', 'usage_days', 'key_bans']) {
    expect(plans).toContain(table);
  }
  expectAtMost(3, readings);
});

/** Tables that only requests read here; other parts of a service may look at the rest whenever they like. */
const TABLES_OF_REQUESTS = ['pets', 'categories', 'inventory', 'orders', 'idempotency_records'];

it('No request scans a whole table, and neither does a foreign key check', async () => {
  const { key } = await service.issueKey();
  const scans = await scansDuring(database.pool, async () => {
    const databaseUrl = `${database.url}?application_name=${SCANNED}`;
    const used = await startService({ database, databaseUrl });
    await useEverything(used.anonymous().with({ 'X-API-Key': key }));
    await used.close();
  });
  expect(TABLES_OF_REQUESTS.map((table) => [table, scans.get(table)])).toEqual(
    TABLES_OF_REQUESTS.map((table) => [table, 0]),
  );
});

/** Each operation that writes, once. */
async function useEverything(by: ApiClient): Promise<void> {
  const arrange = new Arrange(by);
  const pet = await arrange.pet(aPet(), 3);
  const { id: unused } = await arrange.category('Dragons');
  const order = await arrange.order(pet.id);
  const statuses = [
    await by.put(`/categories/${pet.categoryId}`, { name: 'Cats' }),
    await by.delete(`/categories/${pet.categoryId}`),
    await by.delete(`/categories/${unused}`),
    await by.patch(`/pets/${pet.id}`, { name: 'Ada' }),
    await by.put(`/pets/${pet.id}`, { name: 'Ada', categoryId: pet.categoryId }),
    await by.with({ 'Idempotency-Key': 'once' }).post(`/store/inventory/${pet.id}/adjustments`, { delta: 2 }),
    await by.delete(`/pets/${pet.id}`),
    await by.patch(`/store/orders/${order.id}`, { complete: true }),
    await by.delete(`/store/orders/${(await arrange.order(pet.id)).id}`),
    await by.delete(`/pets/${pet.id}`),
    await by.get('/usage?days=90'),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 409, 204, 200, 200, 200, 409, 200, 204, 204, 200]);
}
