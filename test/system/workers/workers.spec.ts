import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, renameSync } from 'node:fs';
import { unlimitedKey } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-postgres-bench';
import { eventually, until } from '../../support/eventually';
import { RedisServer, freePort } from '../../support/redis-server';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { TcpProxy } from '../../support/tcp-proxy';
import { createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let redis: RedisServer;
let environment: Record<string, string>;
let service: ServiceProcess;
let key: string;

beforeAll(async () => {
  const [started, METRICS_PORT] = await Promise.all([RedisServer.start(), freePort()]);
  redis = started;
  environment = {
    ...{ WORKERS: '2', REDIS_URL: redis.url, METRICS_PORT: String(METRICS_PORT), LOG_LEVEL: 'info' },
    ...bench.embedded(),
  };
  // A Node of its own, which a test takes away.
  copyFileSync(process.execPath, node());
  chmodSync(node(), 0o755);
  service = await bench.serve(environment, { within: ['sh', '-c', `shift; exec "${node()}" "$@"`, 'sh'] });
  await until(() => listening() === 2);
  key = await unlimitedKey(embeddedUrl(bench.path('store')));
});
afterAll(async () => {
  await bench.clear();
  await redis.close();
});

const node = () => bench.path('node');
const listening = () => service.stdout.match(/Server listening/g)?.length ?? 0;

function workers(): number[] {
  return execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(service.child.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(' serve'))
    .map((line) => Number.parseInt(line, 10));
}

/** Statuses of requests on connections of their own: the first process deals connections out in turn. */
function ask(requests: number): Promise<number[]> {
  const one = () => service.send(key, 'GET', '/pets', undefined, { Connection: 'close' });
  return Promise.all(Array.from({ length: requests }, async () => (await one()).status));
}

it('scraped while the database is away or silent, every worker lives on and tells the rest, and no caller gets anything worse than a 503', async () => {
  const [database, METRICS_PORT] = [await createTestDatabase(), String(await freePort())];
  const way = await TcpProxy.start(database.url);
  const away = await bench.serve({
    ...{ ...environment, DATA_DIR: bench.path('none'), DATABASE_URL: way.url, METRICS_PORT },
  });
  const scrape = async () => {
    const answer = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`, {
      signal: AbortSignal.timeout(20_000),
    });
    return `${answer.status} ${await answer.text()}`;
  };
  try {
    await eventually(async () => expect(await scrape()).toMatch(/^petstore_workers_missing 0$/m));
    await way.refuse();
    const answer = await away.send(key, 'GET', '/pets');
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
    for (const loseDatabase of [() => way.refuse(), () => way.restore().then(() => way.fallSilent())]) {
      await loseDatabase();
      await eventually(async () => expect(await scrape()).toMatch(/^petstore_ready 0$/m));
      const page = await scrape();
      expect(page).toMatch(/^200 /);
      expect(page).toMatch(/^petstore_workers_missing 0$/m);
      expect(page).toContain('petstore_http_connections');
      expect(page).not.toMatch(/^petstore_webhook_oldest_due_seconds /m);
    }
    await way.restore();
    await eventually(async () => expect(await scrape()).toMatch(/^petstore_ready 1$/m));
    const log = away.log.join('\n');
    expect(log).not.toMatch(/Worker \d+ ended/);
    expect(
      log.match(/The metric petstore_webhook_oldest_due_seconds is missing/g)!.length,
    ).toBeLessThanOrEqual(4);
  } finally {
    await away.end('SIGKILL');
    await way.close();
    await database.drop();
  }
});

it('two workers answer on one port, add up their metrics, are started again when they end, and stop together', async () => {
  expect(new Set(await ask(20))).toEqual(new Set([200]));
  const page = async () => (await fetch(`http://127.0.0.1:${environment.METRICS_PORT}/metrics`)).text();
  // An answer is counted and logged a moment after it is sent.
  await eventually(async () => {
    const labels = 'operation="/pets",method="GET",status="200"';
    expect(await page()).toContain(`petstore_http_request_duration_seconds_count{${labels}} 20\n`);
    const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const answered = lines.filter(({ msg }) => msg === 'request').map(({ worker }) => worker);
    expect(new Set(answered)).toEqual(new Set([1, 2]));
  });

  process.kill(workers().at(-1)!, 'SIGKILL');
  await until(() => listening() === 3 && workers().length === 2);
  // Its successor ends as well, and cannot be started at first: that is tried again, as one that ends.
  renameSync(node(), `${node()}.away`);
  process.kill(workers().at(-1)!, 'SIGKILL');
  await until(() => service.log.some((line) => line.includes('could not be started (ENOENT)')));
  renameSync(`${node()}.away`, node());
  await until(() => listening() === 4 && workers().length === 2);
  const pauses = service.log.flatMap((line) => /Worker \d.* another starts in \d+ s/.exec(line) ?? []);
  expect(pauses).toEqual([
    'Worker 2 ended (SIGKILL); another starts in 2 s',
    'Worker 3 ended (SIGKILL); another starts in 2 s',
    expect.stringMatching(/^Worker 4 could not be started \(ENOENT\); .* 2 s$/),
  ]);
  expect(new Set(await ask(8))).toEqual(new Set([200]));

  // What was counted by a worker that is stuck, or has ended, does not vanish.
  const counted = async () =>
    Number(/^petstore_http_request_duration_seconds_count\{.*"\/pets".* (\d+)$/m.exec(await page())![1]);
  await eventually(async () => expect(await counted()).toBe(28));
  const [stuck] = workers() as [number];
  process.kill(stuck, 'SIGSTOP');
  expect(await page()).toMatch(/^petstore_workers_missing 1$/m);
  expect(await counted()).toBe(28);

  // It does not keep the others from stopping, either.
  await until(() => !service.child.kill('SIGTERM'));
  expect(await service.ending).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe('');
  expect(bench.postmaster()).toBeUndefined();
});
