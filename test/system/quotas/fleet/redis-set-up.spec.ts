import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { QuotaStore } from '../../../../src/modules/quotas';
import { REDIS_CONNECTION } from '../../../../src/modules/quotas/quotas.module';
import { until } from '../../../support/eventually';
import { statuses } from '../../../support/limits';
import { RedisServer, freePort } from '../../../support/redis-server';
import { type TestService, startService } from '../../../support/service';
import { ServiceBench } from '../../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const folder = mkdtempSync(join(tmpdir(), 'petstore-redis-set-up-'));
const servers: RedisServer[] = [];
const services: TestService[] = [];

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
let database: TestDatabase;
beforeAll(async () => (database = await createTestDatabase()));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

async function startRedis(...options: string[]): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  servers.push(server);
  return server;
}

async function start(redisUrl: string): Promise<TestService> {
  const service = await startService({ settings: { redisUrl, instances: 2 } });
  services.push(service);
  return service;
}

const isDegraded = (service: TestService) => service.app.get(QuotaStore).redis.isDegraded;
const warnings = ({ log }: TestService) =>
  log.lines.map(({ msg }) => String(msg)).filter((line) => /Redis/.test(line));

async function configure(server: RedisServer, name: string, value: string): Promise<void> {
  const client = new Redis(server.url);
  await client.config('SET', name, value);
  client.disconnect();
}

it('A Redis that refuses the password is reported in one line, and used once the file of its URL holds the right one', async () => {
  const server = await startRedis();
  await configure(server, 'requirepass', 'new');
  const file = join(folder, 'redis-url');
  const write = (password: string) => writeFileSync(file, server.url.replace('//', `//:${password}@`));
  write('old');
  const bench = new ServiceBench();
  try {
    const service = await bench.serve({ DATABASE_URL: database.url, REDIS_URL_FILE: file, INSTANCES: '2' });
    const told = () => service.log.filter((line) => line.includes('WRONGPASS'));
    await until(() => told().length > 0);
    write('new');
    await until(() => service.stdout.includes('Redis is back'));
    expect(told()).toEqual([
      expect.stringMatching(/Redis is unavailable \(it refuses the user or password of REDIS_URL: WRONGPASS/),
    ]);
    expect(service.stderr).toBe('');
  } finally {
    await bench.clear();
  }
});

it('An eviction policy is reported at start', async () => {
  const server = await startRedis('--maxmemory-policy', 'allkeys-lru');
  const service = await start(server.url);
  await until(() => warnings(service).some((line) => line.includes('maxmemory-policy is allkeys-lru')));
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
});

it('A connection that ioredis has given up is opened again', async () => {
  const service = await start((await startRedis()).url);
  service.app.get<Redis>(REDIS_CONNECTION).disconnect();
  await until(() => isDegraded(service));
  await until(() => !isDegraded(service));
});

it('A service whose Sentinels are unreachable starts, and says at once that it counts alone', async () => {
  const service = await start('redis+sentinel://127.0.0.1:1,127.0.0.1:2/store');
  const ready = await fetch(`${service.url}/health/ready`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({ details: { limits: { degraded: true } } });
});

describe('With a Sentinel', () => {
  let sentinel: ChildProcess;
  let url: string;
  let primary: RedisServer;

  beforeEach(async () => {
    primary = await startRedis();
    const replica = await startRedis('--replicaof', '127.0.0.1', String(primary.port));
    const client = new Redis(replica.url);
    await until(async () => (await client.info('replication')).includes('master_link_status:up'));
    client.disconnect();
    const port = await freePort();
    const configuration = join(folder, `sentinel-${port}.conf`);
    writeFileSync(
      configuration,
      `bind 127.0.0.1\nport ${port}\ndir ${folder}\nsentinel monitor store 127.0.0.1 ${primary.port} 1\n` +
        'sentinel down-after-milliseconds store 500\nsentinel failover-timeout store 2000\n',
    );
    sentinel = spawn('redis-server', [configuration, '--sentinel'], { stdio: 'ignore' });
    url = `redis+sentinel://127.0.0.1:1,127.0.0.1:${port}/store`;
    const asked = new Redis({ port, retryStrategy: () => 20, maxRetriesPerRequest: null });
    asked.on('error', () => undefined);
    await until(async () => ((await asked.call('SENTINEL', 'replicas', 'store')) as unknown[]).length === 1);
    asked.disconnect();
  });
  afterEach(async () => {
    sentinel.kill('SIGKILL');
    await once(sentinel, 'exit');
  });

  it('the limits survive the primary: an instance counts on where its replica is', async () => {
    const service = await start(url);
    const caller = await service.caller({ perMinute: 60, perDay: 1_000 });
    expect(new Set(await statuses(caller, 40))).toEqual(new Set([200]));
    const client = new Redis(primary.url);
    await client.wait(1, 0);
    client.disconnect();
    await primary.stop();
    await until(() => isDegraded(service));
    await until(() => !isDegraded(service));
    expect((await statuses(caller, 25)).filter((status) => status === 200)).toHaveLength(20);
  });

  it('a name that it does not know is reported in one line', async () => {
    const service = await start(url.replace('127.0.0.1:1,', '').replace('/store', '/shop'));
    await until(() => warnings(service).length > 0);
    expect(warnings(service)[0]).toContain('its Sentinels do not know the name at the end of REDIS_URL');
  });
});
