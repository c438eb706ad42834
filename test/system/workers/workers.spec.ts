import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertUnlimitedKey } from '../../support/test-database';
import { embeddedUrl } from '../../support/embedded-servers';
import { eventually, until, within } from '../../support/eventually';
import { query } from '../../support/query';
import { useRedis } from '../../support/redis-server';
import { freePort } from '../../support/ports';
import { ServiceProcesses, type ServiceProcess } from '../../support/service-process';

const processes = new ServiceProcesses();
const redis = useRedis();
let environment: Record<string, string>;
let service: ServiceProcess;
let key: string;

/** The working directory. */
const cwd = processes.folder.make('hostile');
const IGNORED = 'petstore: .env: lines that set no setting of the service are ignored: line 1, line 2.\n';

beforeAll(async () => {
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(cwd, 'ran'))}, '')`;
  writeFileSync(join(cwd, 'code.js'), code);
  const lines = [`NODE_OPTIONS=--require=${cwd}/code.js`, `PATH=${cwd}`, 'WORKERS=2', 'LOG_LEVEL=loud'];
  writeFileSync(join(cwd, '.env'), lines.join('\n'));
  environment = {
    REDIS_URL: redis.url.replace('//', '//:unneeded@'),
    METRICS_PORT: String(await freePort()),
    LOG_LEVEL: 'info',
    ...processes.embedded(),
  };
  // The service runs with a copy of Node, which a test moves away.
  copyFileSync(process.execPath, node());
  chmodSync(node(), 0o755);
  service = await processes.serve(environment, {
    launcher: ['sh', '-c', `shift; exec "${node()}" "$@"`, 'sh'],
    cwd,
  });
  await until(() => listening() === 2);
  key = await insertUnlimitedKey(embeddedUrl(processes.folder.path('store')));
});
afterAll(() => processes.clear());

const node = () => processes.folder.path('node');
const listening = () => service.stdout.match(/Server listening/g)?.length ?? 0;

function childrenOf(parent: number, kind = ''): number[] {
  return execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '' && line.includes(kind))
    .map((line) => Number.parseInt(line, 10));
}
const workers = () => childrenOf(service.child.pid!, ' serve');

/** Makes the database refuse the workers' connections. @returns a function that undoes this */
async function refuseDatabase(): Promise<() => void> {
  const socket = (port: number) => processes.folder.path('store', 'data', `.s.PGSQL.${port}`);
  renameSync(socket(5432), socket(5433));
  await query(
    embeddedUrl(processes.folder.path('store')).replace(':5432/', ':5433/'),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
  );
  return () => renameSync(socket(5433), socket(5432));
}

/** Makes the database keep its connections and accept new ones, but answer nothing. @returns a function that undoes this */
function silenceDatabase(): () => void {
  const postmaster = processes.postmaster()!;
  const signal = (name: NodeJS.Signals) =>
    [postmaster, ...childrenOf(postmaster)].forEach((pid) => process.kill(pid, name));
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

/** Sends requests on separate connections, because the first process gives connections to the workers in turn. @returns the statuses */
function ask(requests: number): Promise<number[]> {
  const one = () => service.send(key, 'GET', '/pets', undefined, { Connection: 'close' });
  return Promise.all(Array.from({ length: requests }, async () => (await one()).status));
}

it('two workers answer on one port, add up their metrics, live on while the database is away or silent, are started again when they end, and stop together', async () => {
  expect(new Set(await ask(20))).toEqual(new Set([200]));
  // Both workers count in Redis, so each one knows of all requests.
  await eventually(async () => {
    const answer = await service.send(key, 'GET', '/rate-limit');
    expect(await answer.json()).toMatchObject({ day: { remaining: 1_000_000 - 20 } });
  });
  const page = async () => {
    const metrics = `http://127.0.0.1:${environment.METRICS_PORT}/metrics`;
    const answer = await within('the metrics', fetch(metrics));
    expect(answer.status).toBe(200);
    return answer.text();
  };
  // The service counts and logs an answer a moment after it has sent it.
  await eventually(async () => {
    const labels = 'operation="/pets",method="GET",status="200"';
    expect(await page()).toContain(`petstore_http_request_duration_seconds_count{${labels}} 20\n`);
    const lines = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const answered = lines.filter(({ msg }) => msg === 'request').map(({ worker }) => worker);
    expect(new Set(answered)).toEqual(new Set([1, 2]));
  });

  const isReady = (ready: 0 | 1) =>
    eventually(async () => {
      // Reading the metrics more often would take too much processor time.
      await sleep(100);
      expect(await page()).toContain(`\npetstore_ready ${ready}\n`);
    });
  for (const loseDatabase of [refuseDatabase, silenceDatabase]) {
    const giveBack = await loseDatabase();
    try {
      if (loseDatabase === refuseDatabase) {
        const answer = await service.send(key, 'GET', '/pets');
        expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
      }
      await isReady(0);
      const scraped = await page();
      expect(scraped).toMatch(/^petstore_workers_missing 0$/m);
      expect(scraped).toContain('petstore_http_connections');
      expect(scraped).not.toMatch(/^petstore_webhook_oldest_due_seconds /m);
    } finally {
      giveBack();
    }
    await isReady(1);
  }
  expect(service.lines.join('\n')).not.toMatch(/Worker \d+ ended/);

  // If a worker cannot be started, the service tries again, as after the end of a worker.
  renameSync(node(), `${node()}.away`);
  process.kill(workers().at(-1)!, 'SIGKILL');
  await until(() => service.lines.some((line) => line.includes('could not be started (ENOENT)')));
  renameSync(`${node()}.away`, node());
  await until(() => listening() === 3 && workers().length === 2);
  const pauses = service.lines.flatMap((line) => /Worker \d.* another starts in \d+ s/.exec(line) ?? []);
  // There is a third pause if the file was not back in time.
  expect(pauses.slice(0, 2)).toEqual([
    expect.stringMatching(/^Worker [12] ended \(SIGKILL\); another starts in 2 s$/),
    expect.stringMatching(/^Worker 3 could not be started \(ENOENT\); .* 2 s$/),
  ]);
  expect(new Set(await ask(8))).toEqual(new Set([200]));

  // The metrics keep the counts of a worker that is stuck or has ended.
  const counted = async () =>
    Number(
      /^petstore_http_request_duration_seconds_count\{operation="\/pets",.*status="200"\} (\d+)$/m.exec(
        await page(),
      )![1],
    );
  await eventually(async () => expect(await counted()).toBe(28));
  const [stuck] = workers() as [number];
  process.kill(stuck, 'SIGSTOP');
  expect(await page()).toMatch(/^petstore_workers_missing 1$/m);
  expect(await counted()).toBe(28);

  // The stuck worker does not keep the others from stopping.
  await until(() => !service.child.kill('SIGTERM'));
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe(IGNORED);
  expect(processes.postmaster()).toBeUndefined();
});

it('.env is read from the working directory, and the environment wins; other names are ignored with one warning, also in worker processes', () => {
  // .env alone sets the number of workers, so it was read. The environment has replaced the invalid log level of .env.
  expect(listening()).toBeGreaterThanOrEqual(2);
  expect(service.stderr).toBe(IGNORED);
  expect(existsSync(join(cwd, 'ran'))).toBe(false);
});

it('what the driver of Redis prints is in the log', () => {
  expect(service.stdout).not.toMatch(/^(Skipping|\[WARN\])/m);
  expect(service.lines.filter((line) => line.includes('does not require a password'))).not.toEqual([]);
});
