import { Redis } from 'ioredis';
import { until } from '../../../support/eventually';
import { RedisServer } from '../../../support/redis-server';
import { startService } from '../../../support/service';
import { ServiceBench } from '../../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const servers: RedisServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
let database: TestDatabase;
beforeAll(async () => (database = await createTestDatabase()));
afterAll(async () => {
  await database.drop();
});

async function startRedis(...options: string[]): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  servers.push(server);
  return server;
}

async function configure(server: RedisServer, name: string, value: string, password?: string): Promise<void> {
  const client = new Redis(server.url, { password });
  await client.config('SET', name, value);
  client.disconnect();
}

it('A Redis that refuses the password is reported in one line, and used once it accepts it', async () => {
  const server = await startRedis();
  await configure(server, 'requirepass', 'new');
  const bench = new ServiceBench();
  try {
    const service = await bench.serve({
      DATABASE_URL: database.url,
      REDIS_URL: server.url.replace('//', '//:old@'),
      INSTANCES: '2',
    });
    const told = () => service.log.filter((line) => line.includes('WRONGPASS'));
    await until(() => told().length > 0);
    await configure(server, 'requirepass', 'old', 'new');
    await until(() => service.stdout.includes('Redis is back'));
    expect(told()).toEqual([expect.stringMatching(/Redis is unavailable \(WRONGPASS/)]);
    expect(service.stderr).toBe('');
  } finally {
    await bench.clear();
  }
});

it('A service whose Redis is unreachable starts, and says at once that it counts alone', async () => {
  const service = await startService({ settings: { redisUrl: 'redis://127.0.0.1:1', instances: 2 } });
  const ready = await fetch(`${service.url}/health/ready`);
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { details: { limits: { degraded: true } } },
  ]);
  await service.close();
});
