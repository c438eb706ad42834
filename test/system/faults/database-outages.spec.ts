import type { ApiClient } from '../../support/api-client';
import { type TestService, startService } from '../../support/service';
import { FaultyPostgres } from './support/faulty-postgres';
import { WatchedCallers } from './support/watched-callers';
import { eventually, until } from '../../support/eventually';
import { COUNTED, limitsIn, statuses } from '../../support/limits';

let postgres: FaultyPostgres;
let service: TestService;
let caller: ApiClient;
let callers: WatchedCallers;

beforeAll(async () => {
  postgres = await FaultyPostgres.start();
  service = await startService({ databaseUrl: postgres.url, statementTimeoutMs: 2_000 });
  caller = await service.caller();
});

afterAll(async () => {
  await service?.close();
  await postgres?.close();
});

beforeEach(async () => {
  callers = new WatchedCallers(caller);
  await callers.untilServed();
});

afterEach(async () => {
  postgres.resume();
  await callers.stop();
  const { unavailable, refusedOtherwise } = callers;
  expect(refusedOtherwise).toEqual([]);
  // A commit whose confirmation was lost is answered 503 and may have happened; none that was confirmed is missing.
  const [row] = await postgres.query<{ count: number }>('SELECT count(*)::int FROM categories');
  created += callers.created;
  lost += unavailable.length;
  expect(row!.count).toBeGreaterThanOrEqual(created);
  expect(row!.count).toBeLessThanOrEqual(created + lost);
});

/** In all tests together: answered 201, and answered 503. */
let created = 0;
let lost = 0;

const probe = async (name: 'live' | 'ready') => (await fetch(`${service.url}/health/${name}`)).status;

const REQUESTS: [string, string, object?][] = [
  ['GET', '/pets'],
  ['GET', '/pets/1'],
  ['GET', '/categories/1'],
  ['GET', '/store/orders?complete=false'],
  ['GET', '/usage'],
  ['POST', '/categories', { name: 'Cats' }],
  ['PUT', '/categories/1', { name: 'Cats' }],
  ['POST', '/store/orders', { petId: 1 }],
  ['DELETE', '/categories/1'],
];

it('While PostgreSQL is stopped, every request with a key is 503 with Retry-After and its limits, what needs no database is served, and then requests are served again', async () => {
  const unknown = await service.caller();
  await postgres.stop();
  await callers.untilAnswered('GET', 503);
  await callers.untilAnswered('POST', 503);
  // Until the loss was noticed, keys that were read before are still believed.
  await eventually(async () => expect(await probe('ready')).toBe(503));
  expect(await probe('live')).toBe(200);
  for (const [method, target, body] of REQUESTS) {
    for (const sender of [caller, unknown]) {
      const answer = await sender.send(method, target, body);
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable', status: 503 } });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
    }
  }
  // Nobody can check the key; that there is none, or a mistyped one, needs no database.
  expect(await unknown.get('/nope')).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  for (const stranger of [service.anonymous(), service.anonymous().with({ 'X-API-Key': 'psk_live_x' })]) {
    expect((await stranger.get('/pets')).status).toBe(401);
  }
  for (const path of ['/openapi.json', '/docs']) {
    expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  }
  await postgres.start();
  await callers.untilServed();
});

it('Requests answered 503 are refunded, and the counts of the day are saved when the database is back', async () => {
  const { key, client } = await service.issueKey({ plan: 'pro' });
  const refunded = service.anonymous().with({ 'X-API-Key': key });
  expect(await statuses(refunded, 5)).toEqual(Array<number>(5).fill(200));
  await postgres.stop();
  expect(await statuses(refunded, 20)).toEqual(Array<number>(20).fill(503));
  await postgres.start();
  await eventually(async () => expect((await refunded.get('/rate-limit')).status).toBe(200));
  const answer = await refunded.get(COUNTED);
  expect([answer.status, limitsIn(answer).remaining]).toEqual([200, 294]);
  await eventually(async () =>
    expect(
      await postgres.query(
        `SELECT requests::int FROM usage_days JOIN clients ON clients.id = client_id WHERE name = '${client}'`,
      ),
    ).toEqual([{ requests: 6 }]),
  );
});

it.each<[string, () => Promise<unknown>]>([
  ['killed and restarted', () => postgres.kill().then(() => postgres.start())],
  ['told to end every session', () => postgres.terminateSessions()],
  ['made to end one session', () => postgres.killSession()],
])('When PostgreSQL is %s, requests are served again, and nothing is lost', async (_what, happens) => {
  await happens();
  await callers.untilServed();
});

it('While PostgreSQL is paused, no request hangs: responses are 503', async () => {
  postgres.pause();
  await callers.untilAnswered('GET', 503);
  await callers.untilAnswered('POST', 503);
  expect(await probe('ready')).toBe(503);
  postgres.resume();
  await callers.untilServed();
});

it('Connections that fall silent for good are abandoned once and not reused', async () => {
  await callers.stop();
  created += callers.created;
  expect(await postgres.pauseSessions()).toBeGreaterThan(0);
  callers = new WatchedCallers(caller);
  await callers.untilUnavailable();
  await callers.untilServed();
  const refused = callers.unavailable.length;
  const { length: answered } = callers.sent;
  // More requests than there can be connections.
  await until(() => callers.sent.length >= answered + 50);
  expect(callers.unavailable).toHaveLength(refused);
});
