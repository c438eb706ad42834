import { setTimeout as sleep } from 'node:timers/promises';
import { aPet, Arrange } from '../../support/builders';
import { Haproxy, documentedFleet } from '../../support/haproxy';
import { RedisServer, freePort } from '../../support/redis-server';
import { type TestService, startService } from '../../support/service';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { until } from '../../support/eventually';

const CLIENTS = 8;
/** Mostly waits: it is steady while instances stop and start, and leaves them the processors. */
const PAUSE_MS = 150;

const bench = new ServiceBench();
let redis: RedisServer;
/** Makes the key and the pet, and owns the database; no request of the test goes there. */
let office: TestService;
let proxy: Haproxy;
let environment: Record<string, string>;
const instances = new Map<'one' | 'two', { port: string; service: ServiceProcess }>();

async function begin(name: 'one' | 'two', port: string): Promise<void> {
  instances.set(name, { port, service: await bench.serve({ ...environment, PORT: port }) });
}

beforeAll(async () => {
  [redis, office] = await Promise.all([RedisServer.start(), startService()]);
  const { shutdownDelay } = await documentedFleet();
  environment = {
    DATABASE_URL: office.database.url,
    REDIS_URL: redis.url,
    INSTANCES: '2',
    TRUST_PROXY: '127.0.0.1',
    SHUTDOWN_DELAY: shutdownDelay,
  };
  const ports: [string, string] = [String(await freePort()), String(await freePort())];
  await Promise.all([begin('one', ports[0]), begin('two', ports[1])]);
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

/** Clients that go on reading and ordering through one address, and send nothing twice. */
const traffic = { answered: 0, orders: 0, stopped: false, failures: [] as string[] };

async function send(key: string, method: string, target: string, expected: number, body?: object) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  try {
    const answer = await fetch(`${proxy.url}${target}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== expected) {
      traffic.failures.push(`${method} ${target} ${answer.status} ${text}`);
    }
  } catch (error) {
    traffic.failures.push(`${method} ${target} ${String((error as Error).cause ?? error)}`);
  }
  traffic.answered += 1;
}

async function readAndOrder(key: string, petId: number): Promise<void> {
  while (!traffic.stopped) {
    await send(key, 'GET', '/pets?limit=5', 200);
    await send(key, 'POST', '/store/orders', 201, { petId });
    traffic.orders += 1;
    await sleep(PAUSE_MS);
  }
}

/** Waits until that many more requests are answered. */
async function goOn(requests: number): Promise<void> {
  const enough = traffic.answered + requests;
  await until(() => traffic.answered >= enough);
}

test('A rolling restart of two instances behind haproxy, under a steady load of reads and writes, fails no request', async () => {
  const { key } = await office.issueKey();
  const caller = office.anonymous().with({ 'X-API-Key': key });
  const pet = await new Arrange(caller).pet(aPet(), 1_000_000);
  const clients = Promise.all(Array.from({ length: CLIENTS }, () => readAndOrder(key, pet.id)));
  await goOn(100);
  await restart('one');
  await goOn(50);
  await restart('two');
  await goOn(50);
  traffic.stopped = true;
  await clients;

  expect(traffic.failures).toEqual([]);
  const { rows } = await office.database.pool.query('SELECT count(*)::int AS orders FROM orders');
  expect(rows).toEqual([{ orders: traffic.orders }]);
});
