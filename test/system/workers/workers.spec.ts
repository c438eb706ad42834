import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { once } from 'node:events';
import { type Environment, petstore, petstoreJson } from '../../support/command-line';
import { eventually, until } from '../../support/eventually';
import { RedisServer, freePort } from '../../support/redis-server';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { tally } from '../../support/spread';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
const WORKERS = { WORKERS: '2', LOG_LEVEL: 'info' };
let database: TestDatabase;
let environment: Environment;
/** For the tests that neither end it nor lack anything. */
let service: ServiceProcess;
let metricsPort: number;

beforeAll(async () => {
  [database, metricsPort] = await Promise.all([createTestDatabase(), freePort()]);
  environment = { ...WORKERS, DATABASE_URL: database.url };
  service = await bench.serve({ ...environment, METRICS_PORT: String(metricsPort) });
});
afterAll(async () => {
  await bench.clear();
  await database.drop();
});

/** A client with a key of its own. */
async function newKey(name: string, where = environment): Promise<string> {
  await petstoreJson(['clients', 'create', '--name', name], where);
  return (await petstoreJson<{ key: string }>(['keys', 'issue', '--client', name], where)).key;
}

function statusesOf(key: string, requests: number, of = service): Promise<number[]> {
  return Promise.all(Array.from({ length: requests }, () => statusOf(key, of)));
}

/** A request on a connection of its own: the first process deals connections out in turn. */
async function ask(key: string, target: string, of = service): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${of.url}${target}`, { headers: { 'X-API-Key': key, Connection: 'close' } });
  return { status: answer.status, text: await answer.text() };
}

async function statusOf(key: string, of = service): Promise<number> {
  return (await ask(key, '/categories', of)).status;
}

function workersOf({ child }: ServiceProcess): number[] {
  return execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(child.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(' serve'))
    .map((line) => Number.parseInt(line, 10));
}

/** Numbers of the workers that have answered requests for this operation. */
function answering(): unknown[] {
  const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  return [...new Set(lines.filter(({ msg }) => msg === 'request').map(({ worker }) => worker))].sort();
}

const scrape = async (port = metricsPort) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

it('both workers answer, together allow exactly the limit of the plan, and add up their metrics, but not those of their processes', async () => {
  const key = await newKey('exact');
  const answers = await Promise.all(Array.from({ length: 70 }, () => ask(key, '/pets')));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 60, 429: 10 });
  await until(() => answering().length === 2);
  // An answer is counted a moment after it is sent; no other test asks for this.
  const counted = 'petstore_http_requests_total{operation="/pets",method="GET",status="200"} 60\n';
  const text = await eventually(async () => {
    const page = await scrape();
    expect(page).toContain(counted);
    return page;
  });
  expect(text).toContain('petstore_limits_degraded 0\n');
  for (const name of ['process_resident_memory_bytes', 'process_start_time_seconds']) {
    const processes = [...text.matchAll(new RegExp(`^${name}(.*) `, 'gm'))].map(([, labels]) => labels);
    expect(processes.sort()).toEqual(['', '{worker="1"}', '{worker="2"}']);
  }
});

it('changes made on the command line apply in every worker: plan, reset', async () => {
  const key = await newKey('changing');
  await statusesOf(key, 60);
  expect(await statusOf(key)).toBe(429);
  await petstore(['quotas', 'reset', 'changing', '--yes'], environment);
  // Never counted: refusals while the change is on its way would end in a ban.
  const limits = async () => (await ask(key, '/rate-limit')).text;
  await until(async () => (await limits()).includes('"limit":60,"remaining":60'));
  await petstore(['clients', 'set-plan', 'changing', '--plan', 'pro'], environment);
  await until(async () => (await limits()).includes('"limit":300'));
  expect(await statusOf(key)).toBe(200);
});

it('replaces a worker that hangs, keeps the counts, leaves no caller waiting, and reports the metrics of the others; then stops once requests in progress are answered, and saves the day’s counts', async () => {
  const port = await freePort();
  const embedded = { ...WORKERS, ...bench.embedded() };
  const hanging = await bench.serve({ ...embedded, METRICS_PORT: String(port) });
  const key = await newKey('bereft', embedded);
  // Of the day: the minute may be over before another worker is there.
  const left = async () => {
    const { text } = await ask(key, '/rate-limit', hanging);
    return (JSON.parse(text) as { day: { remaining: number } }).day.remaining;
  };
  const atFirst = await left();
  await statusesOf(key, 40, hanging);
  const before = workersOf(hanging);
  process.kill(before[0]!, 'SIGSTOP');
  let answered = 0;
  const live = async () => {
    await fetch(`${hanging.url}/health/live`, { headers: { Connection: 'close' } });
    answered += 1;
  };
  const callers = Promise.allSettled(Array.from({ length: 4 }, live));
  // The stopped worker has not confirmed that it took one of the connections.
  await until(() => answered === 3);
  expect((await scrape(port)).match(/process_start_time_seconds\{worker="[12]"\}/g)).toHaveLength(1);
  expect(tally((await callers).map(({ status }) => status))).toEqual({ fulfilled: 3, rejected: 1 });
  await until(() => {
    const now = workersOf(hanging);
    return (
      now.length === 2 && !now.includes(before[0]!) && hanging.stdout.match(/Server listening/g)!.length === 3
    );
  });
  expect(tally(await statusesOf(key, 12, hanging))).toEqual({ 200: 12 });
  expect(await left()).toBe(atFirst - 52);
  const told = hanging.log.filter((line) => line.includes('starting another.'));
  expect(told).toEqual([expect.stringMatching(/Worker [12] did not respond for 10 s and was killed/)]);
  await until(async () => (await scrape(port)).includes('petstore_workers_replaced_total 1\n'));

  const begun = connect(Number(new URL(hanging.url).port), '127.0.0.1');
  await once(begun, 'connect');
  let answer = '';
  begun.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const body = '{"name": "Late"}';
  const type = 'Content-Type: application/json';
  begun.write(`POST /categories HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${key}\r\n${type}\r\n`);
  begun.write(`Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  await until(async () => (await left()) === atFirst - 53);
  hanging.child.kill('SIGTERM');
  await until(() => hanging.stdout.includes('SIGTERM: stopping'));
  begun.write(body.slice(5));
  expect(await hanging.ending).toEqual({ code: 0, signal: null });
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  expect(hanging.stderr).toBe('');
  expect(bench.postmaster()).toBeUndefined();

  const days = await petstoreJson<{ requests: number }[]>(['quotas', 'usage', 'bereft'], embedded);
  expect(days.at(-1)).toMatchObject({ requests: 53 });
});

it('reports a failed start once, and exits', async () => {
  const { port } = new URL(service.url);
  const second = bench.launch({ ...environment, PORT: port });
  expect(await second.ending).toEqual({ code: 1, signal: null });
  expect(second.stderr).toBe(
    `petstore: 127.0.0.1 port ${port} (HOST and PORT) cannot be listened on: it is in use by another process; choose another.\n`,
  );
});

it('counts in Redis, and during an outage of Redis the workers still count together', async () => {
  const redis = await RedisServer.start();
  const counting = await bench.serve({ ...environment, REDIS_URL: redis.url });
  const key = await newKey('redis');
  expect(tally(await statusesOf(key, 65, counting))).toEqual({ 200: 60, 429: 5 });
  await redis.stop();
  await until(async () => (await ask(key, '/health/ready', counting)).text.includes('"degraded":true'));
  const alone = await newKey('alone');
  await until(() => counting.stdout.includes('Redis is unavailable'));
  expect(tally(await statusesOf(alone, 65, counting))).toEqual({ 200: 60, 429: 5 });
  await counting.end();
  await redis.close();
});
