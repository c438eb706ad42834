import type { ApiClient } from '../../support/api-client';
import { type TestService, startService } from '../../support/service';
import { TcpProxy } from '../../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { eventually } from '../../support/eventually';

let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let known: ApiClient;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await TcpProxy.start(database.url);
  service = await startService({ database, databaseUrl: proxy.url });
  known = await service.caller();
  await known.post('/categories', { name: 'Dogs' });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

const WAYS: [string, () => void | Promise<void>][] = [
  ['is refused', () => proxy.refuse()],
  ['is broken', () => proxy.cut()],
];

const REQUESTS: [string, string, object | undefined][] = [
  ['GET', '/pets', undefined],
  ['GET', '/pets/1', undefined],
  ['GET', '/categories/1', undefined],
  ['GET', '/store/orders?complete=false', undefined],
  ['GET', '/usage', undefined],
  ['POST', '/categories', { name: 'Cats' }],
  ['PUT', '/categories/1', { name: 'Cats' }],
  ['POST', '/store/orders', { petId: 1 }],
  ['DELETE', '/categories/1', undefined],
];

describe.each(WAYS)('while every connection to the database %s', (_way, takeAway) => {
  /** A caller whose limits are in memory already, and one that the service does not know yet. */
  let unknown: ApiClient;

  beforeAll(async () => {
    unknown = await service.caller();
    await known.get('/categories');
    await takeAway();
    // Until the loss was noticed, keys that were read before are still believed.
    await eventually(async () => expect((await health('ready')).status).toBe(503));
  });
  afterAll(async () => {
    await proxy.restore();
    await eventually(async () => expect((await health('ready')).status).toBe(200));
    await eventually(async () => expect((await known.get('/categories')).status).toBe(200));
  });

  test.each(REQUESTS)('%s %s is 503 with Retry-After and the limits', async (method, target, body) => {
    for (const caller of [known, unknown]) {
      const answer = await caller.send(method, target, body);
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable', status: 503 } });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
    }
  });

  it('an unknown path with a key gets 503 too, because the key cannot be checked', async () => {
    expect(await unknown.get('/nope')).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  });

  it('a request without a key, or with a mistyped one, is still 401', async () => {
    for (const caller of [service.anonymous(), service.anonymous().with({ 'X-API-Key': 'psk_live_x' })]) {
      expect((await caller.get('/pets')).status).toBe(401);
    }
  });

  it('the service is alive, but not ready', async () => {
    expect((await health('live')).status).toBe(200);
    expect((await health('ready')).status).toBe(503);
  });

  it('the document and its page are served', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    }
  });
});

it('Requests answered 503 are refunded, and the counts of the day are saved when the database is back', async () => {
  const { key, client } = await service.issueKey({ plan: 'pro' });
  const caller = service.anonymous().with({ 'X-API-Key': key });
  for (let sent = 0; sent < 5; sent += 1) {
    await caller.get('/categories');
  }
  await proxy.refuse();
  for (let sent = 0; sent < 20; sent += 1) {
    const { status } = await caller.get('/categories');
    expect(status).toBe(503);
  }
  await proxy.restore();
  await eventually(async () => expect((await caller.get('/rate-limit')).status).toBe(200));
  const answer = await caller.get('/categories');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('294');
  await eventually(async () => expect(await requestsOf(client)).toBe(6));
});

function health(probe: 'live' | 'ready'): Promise<Response> {
  return fetch(`${service.url}/health/${probe}`);
}

async function requestsOf(client: string): Promise<number> {
  const { rows } = await database.pool.query<{ requests: string }>(
    'SELECT sum(requests) AS requests FROM usage_days JOIN clients c ON c.id = client_id WHERE c.name = $1',
    [client],
  );
  return Number(rows[0]?.requests);
}
