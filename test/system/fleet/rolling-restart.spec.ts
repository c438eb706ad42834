import { aPet, Arrange } from '../../support/builders';
import { Haproxy, documentedFleet } from '../../support/haproxy';
import { RedisServer, freePort } from '../../support/redis-server';
import { type TestService, startService } from '../../support/service';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { until } from '../../support/eventually';
import { InsistentOrders } from './support/insistent-orders';

const STOCK = 1_000_000;
/** Mostly waits: it is steady while instances stop and start, and leaves them the processors. */
const PAUSE_MS = 150;

const bench = new ServiceBench();
let redis: RedisServer;
/** Makes the key and the pet, and owns the database; no request of the test goes there. */
let office: TestService;
let proxy: Haproxy;
let environment: Record<string, string>;
const instances = new Map<'one' | 'two', { port: number; service: ServiceProcess }>();

async function begin(name: 'one' | 'two', port: number): Promise<void> {
  instances.set(name, { port, service: await bench.serve({ ...environment, PORT: String(port) }) });
}

beforeAll(async () => {
  [redis, office] = await Promise.all([RedisServer.start(), startService()]);
  const { shutdownDelay } = documentedFleet();
  environment = {
    DATABASE_URL: office.database.url,
    REDIS_URL: redis.url,
    INSTANCES: '2',
    TRUST_PROXY: '127.0.0.1',
    SHUTDOWN_DELAY: shutdownDelay,
  };
  const ports = [await freePort(), await freePort()];
  await Promise.all([begin('one', ports[0]!), begin('two', ports[1]!)]);
  proxy = await Haproxy.start(ports);
  await Promise.all([proxy.sees('one', 'UP'), proxy.sees('two', 'UP')]);
});
afterAll(async () => {
  await proxy?.close();
  await bench.clear();
  await office?.close();
  await redis?.close();
});

async function restart(name: 'one' | 'two'): Promise<void> {
  const { port, service } = instances.get(name)!;
  service.child.kill('SIGTERM');
  // A balancer has seen it while it still answers.
  await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
  await proxy.sees(name, 'DOWN');
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  expect(await service.ending).toEqual({ code: 0, signal: null });
  await begin(name, port);
  await proxy.sees(name, 'UP');
}

test('A rolling restart of two instances behind haproxy, under a steady load of orders and cancellations, fails no request', async () => {
  const { key } = await office.issueKey();
  const caller = office.anonymous().with({ 'X-API-Key': key });
  const pet = await new Arrange(caller).pet(aPet(), STOCK);
  const orders = new InsistentOrders(() => proxy.url, key, pet.id, PAUSE_MS);
  const more = async (count: number) => {
    const enough = orders.booked.length + count;
    await until(() => orders.booked.length >= enough);
  };
  orders.start();
  await more(50);
  await restart('one');
  await more(25);
  await restart('two');
  await more(25);
  await orders.stop();

  expect(orders.unexpected).toEqual([]);
  expect(orders.interruptions).toEqual({ broken: 0, unavailable: 0 });
  await orders.expectBooked(office.database.pool, STOCK);
});
