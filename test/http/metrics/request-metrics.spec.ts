import { MetricsService } from '../../../src/runtime/metrics';
import { aPet } from '../../support/builders';
import { useService } from '../../support/use-service';
import { type Sample, samplesOf, valueOf } from './support/exposition';
import { eventually } from '../../support/eventually';

const service = useService({ settings: { metrics: { host: '127.0.0.1', port: 0 } } });

/** A figure as a change since the test began. */
async function changes(
  work: () => Promise<void>,
): Promise<(name: string, labels?: Sample['labels']) => number> {
  const before = await figures();
  await work();
  const after = await figures();
  return (name, labels = {}) => valueOf(after, name, labels) - valueOf(before, name, labels);
}

async function figures(): Promise<Sample[]> {
  return samplesOf(await service.app.get(MetricsService).text());
}

const OPERATION = { operation: '/categories', method: 'GET' };

test('Requests are counted by operation, method and status, and never by path', async () => {
  const change = await changes(async () => {
    const caller = await service.caller();
    await caller.get('/categories');
    await caller.get('/categories?limit=5');
    await caller.get('/pets/424242');
    await caller.get('/secrets/of/somebody');
  });
  expect(change('petstore_http_requests_total', { ...OPERATION, status: '200' })).toBe(2);
  expect(change('petstore_http_requests_total', { operation: '/pets/:petId', status: '404' })).toBe(1);
  expect(change('petstore_http_requests_total', { operation: 'unknown', status: '404' })).toBe(1);
  expect(change('petstore_http_request_duration_seconds_count', OPERATION)).toBe(2);
  expect(change('petstore_http_request_duration_seconds_bucket', { ...OPERATION, le: '+Inf' })).toBe(2);
  expect(await service.app.get(MetricsService).text()).not.toMatch(/424242|secrets|psk_live_/);
});

test('Limiter decisions are counted, for clients and addresses', async () => {
  const change = await changes(async () => {
    const minute = await service.caller({ perMinute: 2, perDay: 100 });
    for (let sent = 0; sent < 15; sent += 1) {
      await minute.get('/categories');
    }
    const day = await service.caller({ perMinute: 100, perDay: 1 });
    await day.get('/categories');
    await day.get('/categories');
    for (let sent = 0; sent < 61; sent += 1) {
      await service.anonymous().get('/categories');
    }
    await day.get('/rate-limit');
  });
  const decided = (subject: string, decision: string) =>
    change('petstore_limiter_decisions_total', { subject, decision });
  expect(['allowed', 'minute', 'day', 'banned'].map((decision) => decided('client', decision))).toEqual([
    3, 10, 1, 3,
  ]);
  expect(['allowed', 'minute', 'day', 'banned'].map((decision) => decided('address', decision))).toEqual([
    60, 1, 0, 0,
  ]);
  expect(
    [1, 2, 3, 4, 5].map((level) => change('petstore_limiter_bans_total', { level: `${level}` })),
  ).toEqual([1, 0, 0, 0, 0]);
});

test('A ban of a higher level is counted as a ban', async () => {
  const change = await changes(async () => {
    const caller = await service.caller({ perMinute: 1, perDay: 100 });
    for (let sent = 0; sent < 12; sent += 1) {
      await caller.get('/categories');
    }
    service.clock.advance(121_000);
    for (let sent = 0; sent < 12; sent += 1) {
      await caller.get('/categories');
    }
  });
  const bansOf = (level: number) => change('petstore_limiter_bans_total', { level: `${level}` });
  expect([bansOf(1), bansOf(2), bansOf(3)]).toEqual([1, 1, 0]);
});

test('A refunded request stays counted as allowed', async () => {
  const caller = await service.caller();
  const { headers } = await caller.post('/categories', { name: 'Cats' });
  const [place, tag] = [headers.get('location')!, headers.get('etag')!];
  const change = await changes(async () => {
    expect((await caller.with({ 'If-None-Match': tag }).get(place)).status).toBe(304);
  });
  expect(change('petstore_limiter_decisions_total', { decision: 'allowed' })).toBe(1);
  expect(change('petstore_limiter_decisions_total')).toBe(1);
});

test('The first lookup of a key is a miss, every later one a hit', async () => {
  // What is read while the key's own beginning is being told of is not remembered.
  await eventually(async () => {
    const change = await changes(async () => {
      const caller = await service.caller();
      await caller.get('/categories');
      await caller.get('/categories');
      await caller.get('/categories');
      await service.anonymous().with({ 'X-API-Key': 'mistyped' }).get('/categories');
    });
    expect(change('petstore_key_cache_requests_total', { result: 'miss' })).toBe(1);
    expect(change('petstore_key_cache_requests_total', { result: 'hit' })).toBe(2);
  });
});

test('A replay is counted; the first response and a conflict are not', async () => {
  const caller = await service.caller();
  const { body: category } = await caller.post<{ id: number }>('/categories', { name: 'Dogs' });
  const pet = aPet().inCategory(category.id);
  const change = await changes(async () => {
    const keyed = caller.with({ 'Idempotency-Key': 'once' });
    await keyed.post('/pets', pet.build());
    await keyed.post('/pets', pet.build());
    await keyed.post('/pets', pet.named('Other').build());
  });
  expect(change('petstore_idempotent_replays_total', { operation: '/pets' })).toBe(1);
});

test('The pool reports its connections, and requests that wait for one', async () => {
  const samples = await figures();
  const held = ['busy', 'idle'].map((state) =>
    valueOf(samples, 'petstore_database_pool_connections', { state }),
  );
  expect(held[0]! + held[1]!).toBeGreaterThan(0);
  expect(valueOf(samples, 'petstore_database_pool_max_connections')).toBe(10);
  expect(valueOf(samples, 'petstore_database_pool_waiting_requests')).toBe(0);
});

test('Counters without any events are reported as 0', async () => {
  const text = await service.app.get(MetricsService).text();
  expect(text).toContain('petstore_limits_degraded 0\n');
  expect(text).toMatch(/^petstore_log_lines_lost_total \d+$/m);
  expect(text).toContain('petstore_limiter_bans_total{level="5"} 0\n');
});

test('Gauges are read, not added up, on each scrape', async () => {
  const read = async () => valueOf(await figures(), 'petstore_key_cache_requests_total', { result: 'hit' });
  expect(await read()).toBe(await read());
});
