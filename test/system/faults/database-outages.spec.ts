import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { embeddedUrl, killPostmaster } from '../../support/embedded-servers';
import { eventually, until } from '../../support/eventually';
import { COUNTED, limitsIn, statuses } from '../../support/limits';
import { query } from '../../support/query';
import { TestFolder } from '../../support/test-folder';
import { useStore } from '../../support/use-service';

const temporary = new TestFolder();
const folder = temporary.path('store');
/** A PostgreSQL for these tests alone. When it starts again, it has the same address. */
let postgres: EmbeddedPostgres;
/** How many requests for a new category were answered 201, and how many 503. */
const created = { confirmed: 0, unavailable: 0 };

const startPostgres = async () =>
  void (postgres = await startEmbeddedPostgres({ dataDirectory: folder, database: 'store' }));
const inDatabase = <Row extends object>(sql: string) => query<Row>(embeddedUrl(folder, 'store'), sql);

beforeAll(startPostgres);
const { service, caller } = useStore(() => ({ databaseUrl: postgres.url }));
afterAll(async () => {
  await postgres?.stop();
  await temporary.clear();
});

const probe = async (name: 'live' | 'ready') => (await fetch(`${service.url}/health/${name}`)).status;

/** Creates categories until the work is over. Every answer must be 201, or 503 with Retry-After. */
async function whileWriting(work: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      const { status, headers } = await caller.post('/categories', { name: 'Dogs' });
      if (status === 201) {
        created.confirmed += 1;
      } else {
        created.unavailable += 1;
        expect([status, headers.has('retry-after')]).toEqual([503, true]);
        // An attempt at once would most likely fail, too, and take processor time from the start of the database.
        await sleep(50);
      }
    }
  };
  await Promise.all([write(), write(), write(), write(), work().finally(() => (isOver = true))]);
}

const untilServed = () =>
  until(async () => {
    const one = await caller.get('/pets');
    const { status } = await caller.put('/store/inventory/99', { quantity: 1 });
    return one.status === 200 && status === 404;
  });

const REQUESTS: [string, string, object?][] = [
  ['GET', '/pets'],
  ['GET', '/pets/1'],
  ['GET', '/store/orders?complete=false'],
  ['GET', '/usage'],
  ['GET', '/nope'],
  ['POST', '/categories', { name: 'Cats' }],
  ['PUT', '/categories/1', { name: 'Cats' }],
  ['POST', '/store/orders', { petId: 1 }],
  ['DELETE', '/categories/1'],
];

it('While PostgreSQL is stopped, every request with a key is 503 with Retry-After and its limits, and refunded, what needs no database is served, and then requests are served again, and the counts saved', async () => {
  const unknown = await service.caller();
  const { key, client } = await service.issueKey({ plan: 'pro' });
  const known = service.callerWith(key);
  expect(await statuses(known, 5)).toEqual(Array<number>(5).fill(200));
  await postgres.stop();
  // Until the service notices the loss, it accepts keys that it has read before.
  await eventually(async () => expect(await probe('ready')).toBe(503));
  expect(await probe('live')).toBe(200);
  for (const [method, target, body] of REQUESTS) {
    // The service cannot look up this key.
    const answer = await unknown.send(method, target, body);
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable', status: 503 } });
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  }
  expect(await statuses(known, 20)).toEqual(Array<number>(20).fill(503));
  // The service refuses a missing or mistyped key without the database.
  for (const stranger of [service.anonymous(), service.anonymous().with({ 'X-API-Key': 'psk_live_x' })]) {
    expect((await stranger.get('/pets')).status).toBe(401);
  }
  for (const path of ['/openapi.json', '/docs']) {
    expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  }
  await startPostgres();
  await untilServed();
  await eventually(async () => expect((await known.get('/rate-limit')).status).toBe(200));
  const answer = await known.get(COUNTED);
  expect([answer.status, limitsIn(answer).remaining]).toEqual([200, 294]);
  const saved = `SELECT requests::int FROM usage_days JOIN clients ON clients.id = client_id WHERE name = '${client}'`;
  await eventually(async () => expect(await inDatabase(saved)).toEqual([{ requests: 6 }]));
});

it('When PostgreSQL is killed, or its sessions are ended, requests are served again, and nothing confirmed is lost', async () => {
  const kill = async () => {
    await killPostmaster(join(folder, 'data'));
    await postgres.stop();
    await startPostgres();
  };
  const endSessions = () =>
    inDatabase(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
    );
  for (const happens of [kill, endSessions]) {
    await whileWriting(async () => {
      await happens();
      await untilServed();
    });
  }
  // If the confirmation of a commit is lost, the answer is 503, although the category may exist.
  const [row] = await inDatabase<{ count: number }>('SELECT count(*)::int FROM categories');
  expect(created.confirmed).toBeGreaterThan(0);
  expect(row!.count).toBeGreaterThanOrEqual(created.confirmed);
  expect(row!.count).toBeLessThanOrEqual(created.confirmed + created.unavailable);
});
