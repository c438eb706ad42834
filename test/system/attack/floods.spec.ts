import { execFileSync } from 'node:child_process';
import { Flood } from '../../support/client-flood';
import { until } from '../../support/eventually';
import { requestText } from '../../support/raw-http';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { unlimitedKey } from '../faults/support/unlimited-key';

const IDLE = 10_000;
const SLOW = 500;
const UNREAD = 200;
/** So little that a process which keeps anything of an attack runs out of it; without a limit, garbage may stay long. */
const HEAP = '--max-old-space-size=192';

const bench = new ServiceBench();
let database: TestDatabase;
/** A process of its own, so that its memory is its own. */
let victim: ServiceProcess;
let port: number;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url };
  victim = await bench.serve({ ...environment, LOG_LEVEL: 'error', NODE_OPTIONS: HEAP });
  port = Number(new URL(victim.url).port);
  key = await unlimitedKey(environment);
});
afterAll(async () => {
  await bench.clear();
  await database.drop();
});

async function served(target: string): Promise<void> {
  const answer = await victim.send(key, 'GET', target);
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
}

/** Resident memory of the process, in megabytes. */
function memory(): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(victim.child.pid)]);
  return Math.round(Number(kilobytes.toString()) / 1_024);
}

/** Runs the attack while a valid client sends one request after another, which must not notice. */
async function underAttack(flood: Flood, attack: () => Promise<void>): Promise<void> {
  let ended = false;
  const work = async () => {
    while (!ended) await served('/pets');
  };
  try {
    await Promise.all([attack().finally(() => (ended = true)), work()]);
  } finally {
    flood.close();
  }
}

it('10,000 silent connections and 500 slow ones do no harm', async () => {
  // By its response, all connections before are accepted.
  const flood = new Flood(port, () => served('/rate-limit'));
  const before = memory();
  await underAttack(flood, async () => {
    const slow = await flood.open(SLOW, 'GET /pets HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    const dribble = setInterval(() => slow.forEach((socket) => socket.write('a')), 500);
    await flood.open(IDLE).finally(() => clearInterval(dribble));
    expect(memory() - before).toBeLessThan(250);
  });
});

it('200 connections that read no response and send as many requests as they can take little memory', async () => {
  const flood = new Flood(port);
  const before = memory();
  await underAttack(flood, async () => {
    const sockets = await flood.open(UNREAD);
    sockets.forEach((socket) => socket.pause().write(requestText('GET /openapi.json').repeat(200)));
    await until(() => sockets.every((socket) => socket.writableLength === 0));
    // Whatever was read from the other connections before is done when these are answered.
    for (let request = 0; request < 5; request += 1) await served('/rate-limit');
    expect(memory() - before).toBeLessThan(400);
  });
});
