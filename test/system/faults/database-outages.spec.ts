import type { ApiClient } from '../../support/api-client';
import { type TestService, startService } from '../../support/service';
import { FaultyPostgres } from './support/faulty-postgres';
import { WatchedCallers } from './support/watched-callers';
import { until } from '../../support/eventually';

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

it('While PostgreSQL is stopped, responses are 503; once it is back, requests are served again', async () => {
  await postgres.stop();
  await callers.untilAnswered('GET', 503);
  await callers.untilAnswered('POST', 503);
  expect(await probe('live')).toBe(200);
  await postgres.start();
  await callers.untilServed();
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
