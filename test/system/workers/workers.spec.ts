import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Environment, petstoreJson } from '../../support/command-line';
import { eventually, until } from '../../support/eventually';
import { RedisServer, freePort } from '../../support/redis-server';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { tally } from '../../support/spread';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
const WORKERS = { WORKERS: '2', LOG_LEVEL: 'info' };
let database: TestDatabase;
let redis: RedisServer;
let environment: Environment;
/** For the tests that end none of it. */
let service: ServiceProcess;
let metricsPort: number;

beforeAll(async () => {
  [database, redis, metricsPort] = await Promise.all([createTestDatabase(), RedisServer.start(), freePort()]);
  environment = { ...WORKERS, DATABASE_URL: database.url, REDIS_URL: redis.url };
  service = await bench.serve({ ...environment, METRICS_PORT: String(metricsPort) });
  await bothListen(service);
});
afterAll(async () => {
  await bench.clear();
  await Promise.all([database.drop(), redis.close()]);
});

const listening = ({ stdout }: ServiceProcess) => stdout.match(/Server listening/g)?.length ?? 0;
const bothListen = (of: ServiceProcess) => until(() => listening(of) === 2);

/** A client with a key of its own. */
async function newKey(name: string, where = environment): Promise<string> {
  await petstoreJson(['clients', 'create', '--name', name], where);
  return (await petstoreJson<{ key: string }>(['keys', 'issue', '--client', name], where)).key;
}

/** A request on a connection of its own: the first process deals connections out in turn. */
async function ask(key: string, target: string, of = service): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${of.url}${target}`, { headers: { 'X-API-Key': key, Connection: 'close' } });
  return { status: answer.status, text: await answer.text() };
}

function statusesOf(key: string, requests: number, of = service): Promise<number[]> {
  return Promise.all(
    Array.from({ length: requests }, async () => (await ask(key, '/categories', of)).status),
  );
}

function workersOf({ child }: ServiceProcess): number[] {
  return execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(child.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(' serve'))
    .map((line) => Number.parseInt(line, 10));
}

/** Numbers of the workers that have answered requests. */
function answering(): unknown[] {
  const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  return [...new Set(lines.filter(({ msg }) => msg === 'request').map(({ worker }) => worker))].sort();
}

it('both workers answer, together allow exactly the limit of the plan, and add up their metrics', async () => {
  const key = await newKey('exact');
  // On a busy machine a connection to Redis may take longer than a start waits for it.
  const counts = async () => (await ask(key, '/health/ready')).text.includes('"degraded":false');
  await until(async () => (await Promise.all([counts(), counts(), counts(), counts()])).every(Boolean));
  const answers = await Promise.all(Array.from({ length: 70 }, () => ask(key, '/pets')));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 60, 429: 10 });
  await until(() => answering().length === 2);
  // An answer is counted a moment after it is sent; no other test asks for this.
  await eventually(async () => {
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(page).toContain(
      'petstore_http_request_duration_seconds_count{operation="/pets",method="GET",status="200"} 60\n',
    );
    expect(page).toContain('petstore_ready 1\n');
  });
});

it('a worker that ends is started again after a pause that grows; then SIGTERM stops all once requests in progress are answered, and the embedded database', async () => {
  const embedded = { ...WORKERS, ...bench.embedded(), REDIS_URL: redis.url };
  const ending = await bench.serve(embedded);
  await bothListen(ending);
  const key = await newKey('bereft', embedded);
  // The newest, so that it is the same one's successor.
  for (const listened of [3, 4]) {
    process.kill(workersOf(ending).at(-1)!, 'SIGKILL');
    await until(() => listening(ending) === listened && workersOf(ending).length === 2);
  }
  const told = ending.log.filter((line) => line.includes(' ended '));
  const another = (worker: number, pause: number) =>
    expect.stringContaining(`Worker ${worker} ended (SIGKILL); another starts in ${pause} s.`);
  expect(told).toEqual([another(2, 1), another(3, 2)]);
  expect(tally(await statusesOf(key, 12, ending))).toEqual({ 200: 12 });

  const begun = connect(Number(new URL(ending.url).port), '127.0.0.1');
  await once(begun, 'connect');
  let answer = '';
  begun.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const body = '{"name": "Late"}';
  const type = 'Content-Type: application/json';
  begun.write(`POST /categories HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${key}\r\n${type}\r\n`);
  begun.write(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  // The interim response says that the request has arrived.
  await until(() => answer.startsWith('HTTP/1.1 100 '));
  begun.write(body.slice(0, 5));
  ending.child.kill('SIGTERM');
  await until(() => ending.stdout.match(/SIGTERM: stopping/g)?.length === 3);
  begun.write(body.slice(5));
  expect(await ending.ending).toEqual({ code: 0, signal: null });
  expect(answer).toMatch(/^HTTP\/1\.1 201 /m);
  expect(ending.stderr).toBe('');
  expect(bench.postmaster()).toBeUndefined();
});

it('a failed start is reported once', async () => {
  const { port } = new URL(service.url);
  const second = bench.launch({ ...environment, PORT: port });
  expect(await second.ending).toEqual({ code: 1, signal: null });
  expect(second.stderr).toBe(
    `petstore: 127.0.0.1 port ${port} (HOST and PORT) cannot be listened on: it is in use by another process; choose another.\n`,
  );
});

it('without Redis nothing would share the limits, so the start ends with one line', async () => {
  const alone = bench.launch({ ...WORKERS, DATABASE_URL: database.url });
  expect(await alone.ending).toEqual({ code: 1, signal: null });
  expect(alone.stderr).toBe(
    'petstore: WORKERS takes more than 1 only with REDIS_URL, where they share the limits, not "2".\n',
  );
});

it('during an outage of Redis each worker allows its share, as any instance', async () => {
  const passing = await RedisServer.start();
  const counting = await bench.serve({ ...environment, REDIS_URL: passing.url });
  await bothListen(counting);
  const key = await newKey('alone');
  await passing.stop();
  await until(() => counting.stdout.match(/Redis is unavailable/g)?.length === 2);
  const allowed = (await statusesOf(key, 65, counting)).filter((status) => status === 200);
  // Half the limit each; how many connections a worker gets is not fixed.
  expect(allowed.length).toBeGreaterThanOrEqual(30);
  expect(allowed.length).toBeLessThanOrEqual(60);
  await counting.end();
  await passing.close();
});
