import { setImmediate } from 'node:timers/promises';
import { QuotaCounters, redisStatus } from '../../../../src/modules/quotas';
import { addressCaller } from '../../../../src/modules/quotas/request-limiter';
import type { ApiCaller } from '../../../support/api-caller';
import { until } from '../../../support/eventually';
import { COUNTED, limitsIn } from '../../../support/limits';
import { RedisServer } from '../../../support/redis-server';
import { type TestService, startService } from '../../../support/service';
import { TcpProxy } from '../../../support/tcp-proxy';

/** As the service has it outside of tests. */
const IMPATIENT = '?commandTimeout=200';

let redis: RedisServer;
let way: TcpProxy;
let service: TestService;

beforeAll(async () => {
  redis = await RedisServer.start();
  way = await TcpProxy.start(redis.url);
  // A busy machine may take longer than the service waits outside of tests.
  service = await startService({ settings: { redisUrl: `${way.url}?commandTimeout=1000`, instances: 2 } });
});
afterAll(async () => {
  await service.close();
  await way.close();
  await redis.close();
});

const isDegraded = () => service.app.get(QuotaCounters).isDegraded;

async function remaining(caller: ApiCaller): Promise<number> {
  return limitsIn(await caller.get(COUNTED)).remaining;
}

// The test before may have taken away the Redis of this connection.
beforeEach(() => until(async () => (await remaining(await service.caller({ plan: 'free' }))) === 59));

test('a connection that falls silent, but does not end, is replaced', async () => {
  const caller = await service.caller({ plan: 'free' });
  expect(await remaining(caller)).toBe(59);
  way.fallSilent(false);
  await until(isDegraded);
  await until(() => !isDegraded());
  expect(await remaining(caller)).toBe(58);
});

test('a connection that leads to what is a replica now is replaced', async () => {
  const caller = await service.caller({ plan: 'free' });
  expect(await remaining(caller)).toBe(59);
  const next = await RedisServer.start();
  await next.call('REPLICAOF', '127.0.0.1', redis.port);
  await until(async () => String(await next.call('INFO', 'replication')).includes('master_link_status:up'));
  await next.call('REPLICAOF', 'NO', 'ONE');
  await redis.call('REPLICAOF', '127.0.0.1', next.port);
  // As where a name leads to the new one: connections to the old one stay.
  way.leadTo(next.url);
  await until(isDegraded);
  await until(() => !isDegraded());
  expect(await remaining(caller)).toBe(58);
  await redis.call('REPLICAOF', 'NO', 'ONE');
  way.leadTo(redis.url);
  await next.close();
});

test('an event loop that is busy for longer than Redis may take is no outage', async () => {
  const busy = await startService({ settings: { redisUrl: redis.url + IMPATIENT, instances: 2 } });
  const counters = busy.app.get(QuotaCounters);
  for (const turns of [0, 1, 2, 3]) {
    const client = addressCaller(`192.0.2.${turns}`);
    const taken = counters.take(client);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    for (const end = performance.now() + 600; performance.now() < end;) continue;
    expect([(await taken).isLocal, (await counters.read(client)).windows[0]!.remaining]).toEqual([false, 59]);
  }
  expect(counters.isDegraded).toBe(false);
  await busy.close();
});

test('who only looks leaves nothing in Redis', async () => {
  await service.app.get(QuotaCounters).read(addressCaller('198.51.100.7'));
  expect(await redis.call('KEYS', '*198.51.100.7*')).toEqual([]);
});

test('a user of Redis who may only run scripts is enough', async () => {
  const rights = ['resetkeys', '~petstore:*', '-@all', '+@read', '+@write', '+@scripting', '+time', '+ping'];
  await redis.call('ACL', 'SETUSER', 'shop', 'on', '>secret', ...rights);
  const redisUrl = redis.url.replace('//', '//shop:secret@');
  const limited = await startService({ settings: { redisUrl, instances: 2 } });
  const counters = limited.app.get(QuotaCounters);
  expect((await counters.take(addressCaller('198.51.100.8'))).isLocal).toBe(false);
  expect(counters.isDegraded).toBe(false);
  await limited.close();
});

test('a database that Redis refuses is not replaced by its first one, which may be that of another store', async () => {
  const redisUrl = `${redis.url}/99`;
  const alone = await startService({ settings: { redisUrl, instances: 2 } });
  const counters = alone.app.get(QuotaCounters);
  expect((await counters.take(addressCaller('198.51.100.9'))).isLocal).toBe(true);
  expect(counters.isDegraded).toBe(true);
  expect((await redisStatus(redisUrl)).reason).toMatch('DB index is out of range');
  await alone.close();
});
