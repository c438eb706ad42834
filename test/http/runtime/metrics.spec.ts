import { Database } from '#libs/database';
import { call, earnBan } from '../../support/limits';
import { useService } from '../../support/use-service';
import { eventually } from '../../support/eventually';

type Labels = Record<string, string>;

const service = useService({ settings: { metrics: { host: '127.0.0.1', port: 0 } } });
const text = () => service.metrics!.metrics();

/** The sum of all values of this name that have these labels; 0 when there are none. */
async function figures(): Promise<(name: string, labels?: Labels) => number> {
  const metrics = await service.metrics!.getMetricsAsJSON();
  const values = metrics.flatMap(({ name, values }) => values.map((one) => ({ metricName: name, ...one })));
  return (name, labels = {}) =>
    values
      .filter(({ metricName }) => metricName === name)
      .filter((one) => Object.entries(labels).every(([label, value]) => String(one.labels[label]) === value))
      .reduce((sum, { value }) => sum + value, 0);
}

/** A figure as a change since the test began. */
async function changes(work: () => Promise<void>): Promise<(name: string, labels?: Labels) => number> {
  const before = await figures();
  await work();
  const after = await figures();
  return (name, labels) => after(name, labels) - before(name, labels);
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
  expect(change('petstore_http_request_duration_seconds_count', { ...OPERATION, status: '200' })).toBe(2);
  expect(
    change('petstore_http_request_duration_seconds_count', { operation: '/pets/:petId', status: '404' }),
  ).toBe(1);
  expect(
    change('petstore_http_request_duration_seconds_count', { operation: 'unknown', status: '404' }),
  ).toBe(1);
  expect(change('petstore_http_request_duration_seconds_count', OPERATION)).toBe(2);
  expect(change('petstore_http_request_duration_seconds_bucket', { ...OPERATION, le: '+Inf' })).toBe(2);
  expect(await text()).not.toMatch(/424242|secrets|psk_live_/);
});

test('Limiter decisions are counted, for clients and addresses', async () => {
  // Other tests of this file send requests from the same address.
  service.clock.advance(60_000);
  const change = await changes(async () => {
    const minute = await service.caller({ perMinute: 2, perDay: 100 });
    await call(minute, 2);
    await earnBan(minute, service);
    await call(minute, 2);
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
    3, 11, 1, 3,
  ]);
  expect(['allowed', 'minute', 'day', 'banned'].map((decision) => decided('address', decision))).toEqual([
    60, 1, 0, 0,
  ]);
  service.clock.advance(60_000);
  expect(
    [1, 2, 3, 4, 5].map((level) => change('petstore_limiter_bans_total', { level: `${level}` })),
  ).toEqual([1, 0, 0, 0, 0]);
});

test('An outage of the database is visible although no request is counted', async () => {
  const ready = async () => (await figures())('petstore_ready');
  await eventually(async () => expect(await ready()).toBe(1));
  const refusal = new Error('ECONNREFUSED');
  const write = jest.spyOn(service.app.get(Database), 'assertWritable').mockRejectedValue(refusal);
  try {
    await eventually(async () => expect(await ready()).toBe(0));
  } finally {
    write.mockRestore();
  }
  await eventually(async () => expect(await ready()).toBe(1));
});

test('Counters without any events are reported as 0', async () => {
  const page = await text();
  expect(page).toContain('petstore_limits_degraded 0\n');
  expect(page).toMatch(/^petstore_log_lines_lost_total \d+$/m);
  expect(page).toContain('petstore_limiter_bans_total{level="5"} 0\n');
});
