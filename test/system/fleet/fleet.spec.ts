import { ApiCaller } from '../../support/api-caller';
import { Arrange, aPet } from '../../support/builders';
import { insertUnlimitedKey } from '../../support/test-database';
import { DocumentContract } from '../../support/document-contract';
import { until } from '../../support/eventually';
import { Haproxy, documentedShutdownDelay } from '../../support/haproxy';
import { LOOPBACK_WEBHOOKS, Receiver, isSignedBy } from '../../support/receiver';
import { useRedis } from '../../support/redis-server';
import { freePort } from '../../support/ports';
import { type ServiceProcess, useProcesses } from '../../support/service-process';
import { whileLocked } from '../../support/disturbances';
import { InsistentOrders } from './support/insistent-orders';

const SIZE = 3;
const STOCK = 1_000_000;
/** The pause after each order. The load is steady, and leaves the processors to instances that stop and start. */
const PAUSE_MS = 150;

const { processes, database } = useProcesses('template1');
const redis = useRedis();
let environment: Record<string, string>;
/** Processes with the real time, which share one PostgreSQL and one Redis. */
let instances: ServiceProcess[];
let contract: DocumentContract;
let key: string;

/** Starts an instance, by default on a free port that no other program gets while the instance is stopped. */
const start = async (port?: number) =>
  processes.serve({ ...environment, PORT: String(port ?? (await freePort())) });

beforeAll(async () => {
  // Redis always runs here, so that no instance may count alone, even if Redis is slow.
  const REDIS_URL = `${redis.url}?commandTimeout=120000`;
  const shared = { DATABASE_URL: database.url, REDIS_URL, INSTANCES: String(SIZE) };
  const SHUTDOWN_DELAY = documentedShutdownDelay();
  environment = { ...shared, ...LOOPBACK_WEBHOOKS, SHUTDOWN_DELAY, TRUST_PROXY: '127.0.0.1' };
  // All instances start at once on an empty database. One of them migrates it, and none adds example data, because it is external.
  instances = await Promise.all(Array.from({ length: SIZE }, () => start()));
  const count = 'SELECT ((SELECT count(*) FROM pets) + (SELECT count(*) FROM clients))::int AS rows';
  expect(await inDatabase(count)).toEqual({ rows: 0 });
  expect(instances.map(({ stdout }) => stdout).join()).not.toContain('psk_live_');
  contract = DocumentContract.forDocument(await (await fetch(`${instances[0]!.url}/openapi.json`)).text());
  key = await insertUnlimitedKey(database.url);
});
// A test that ends an instance does not replace it, because the next test may not need it. So each test starts the missing ones.
beforeEach(async () => {
  const missing = Array.from({ length: SIZE - instances.length }, () => start());
  instances.push(...(await Promise.all(missing)));
  await Promise.all(instances.map((instance) => instance.untilShared()));
});
afterEach(() => Haproxy.closeAll());

/** One caller for each running instance, all with this key. */
const callers = (of = key) => instances.map(({ url }) => new ApiCaller(url, contract, { 'X-API-Key': of }));
const arrange = () => new Arrange(callers()[0]!);

/** The only row of a query. */
async function inDatabase(sql: string): Promise<unknown> {
  return (await database.pool.query<Record<string, unknown>>(sql)).rows[0];
}

/** A row if an instance waits for a lock of the test, and undefined otherwise. */
const isHeld = () =>
  inDatabase(
    `SELECT FROM pg_stat_activity AS waiting, pg_stat_activity AS holder
     WHERE holder.pid = ANY(pg_blocking_pids(waiting.pid)) AND holder.application_name NOT LIKE 'petstore%'`,
  );

test('when one is killed while it works, nothing acknowledged is lost or done twice, the stock matches the orders, and every event is delivered', async () => {
  const receiver = await Receiver.start();
  const hook = { url: receiver.url, types: ['order.placed'] };
  const { body: webhook } = await callers()[1]!.post<{ id: number; secret: string }>('/webhooks', hook);
  const { id: petId } = await arrange().pet(aPet(), STOCK);
  let turn = 0;
  const orders = new InsistentOrders(() => instances[turn++ % instances.length]!.url, key, petId);
  orders.start();
  await until(() => orders.booked.length >= 20);
  const { held } = await whileLocked(database.pool, petId, async () => {
    // The next order goes to the first instance, which is killed.
    turn = 0;
    const placed = orders.place('held');
    await until(async () => (await isHeld()) !== undefined);
    await instances.shift()!.end('SIGKILL');
    return { held: placed };
  });
  await held;
  const { length } = orders.booked;
  await until(() => orders.booked.length >= length + 20);
  await orders.stop();
  expect(orders.interruptions).toContain(0);
  expect(orders.interruptions.filter((status) => status !== 0 && status !== 503)).toEqual([]);
  await orders.expectBooked(database.pool, STOCK);

  // Another instance takes over the deliveries of the killed one when their leases have ended.
  await until(() => {
    const delivered = new Set(receiver.received.map(({ event }) => event.data.id));
    return orders.booked.every(({ id }) => delivered.has(id));
  });
  expect(receiver.received.every((one) => isSignedBy(webhook.secret, one))).toBe(true);
  await callers()[0]!.delete(`/webhooks/${webhook.id}`);
  await receiver.stop();
});

test('a rolling restart behind haproxy, under a steady load of orders and cancellations, fails no request', async () => {
  const behind = instances.splice(0, 2);
  const ports = behind.map(({ url }) => Number(new URL(url).port));
  const proxy = await Haproxy.start(ports);
  await Promise.all([proxy.sees('one', 'UP'), proxy.sees('two', 'UP')]);
  const { id: petId } = await arrange().pet(aPet(), STOCK);
  // Another client, because the test above has used the Idempotency-Keys of the first one.
  const another = await insertUnlimitedKey(database.url, 'rolling');
  const orders = new InsistentOrders(() => proxy.url, another, petId, PAUSE_MS);
  const more = async (count: number) => {
    const enough = orders.booked.length + count;
    await until(() => orders.booked.length >= enough);
  };
  orders.start();
  await more(50);
  for (const [index, name] of (['one', 'two'] as const).entries()) {
    const service = behind[index]!;
    service.child.kill('SIGTERM');
    // The instance still answers when it says that it is not ready, so that a balancer notices.
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
    await proxy.sees(name, 'DOWN');
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    await more(25);
    // The new instance must serve before the other one is stopped.
    if (name === 'one') {
      instances.push(await start(ports[index]));
      await proxy.sees(name, 'UP');
    }
  }
  await orders.stop();

  // For each request that did not end normally, the log of haproxy has four letters that say which side ended it.
  const ended = proxy.log
    .split('\n')
    .filter((line) => / instances\/.* [A-Z][\w-]{3} \d+\/\d+\/\d+\/\d+\/\d+ /.test(line));
  expect([orders.interruptions, ended]).toEqual([[], []]);
  await orders.expectBooked(database.pool, STOCK);
});
