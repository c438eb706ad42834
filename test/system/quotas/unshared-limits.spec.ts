import { petstore } from '../../support/command-line';
import { RedisServer } from '../../support/redis-server';
import { ServiceBench, until } from '../../support/service-process';
import { type TestService, startService } from '../../support/service';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const START_MS = 120_000;
/** The level of the log that Pino writes as a number. */
const WARN = 40;
const WARNING = /^Limits are not shared: .*REDIS_URL/;

let database: TestDatabase;
let redis: RedisServer;
let services: TestService[];
const bench = new ServiceBench();

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(async () => {
  await bench.clear();
  await redis.close();
});

beforeEach(async () => {
  database = await createTestDatabase();
  services = [];
});
afterEach(async () => {
  await Promise.all(services.map((service) => service.close()));
  await database.drop();
});

async function start(settings: { redisUrl?: string; instances?: number } = {}): Promise<TestService> {
  const service = await startService({ database, settings });
  services.push(service);
  return service;
}

async function end(service: TestService): Promise<void> {
  services = services.filter((other) => other !== service);
  await service.close();
}

/** What /health/ready of each says. */
async function shared(...asked: TestService[]): Promise<boolean[]> {
  return Promise.all(
    asked.map(async ({ url }) => {
      const answer = await fetch(`${url}/health/ready`);
      const { info } = (await answer.json()) as { info: { limits: { shared: boolean } } };
      return info.limits.shared;
    }),
  );
}

function warningsOf({ log }: TestService): Record<string, unknown>[] {
  return log.lines.filter(({ msg }) => WARNING.test(String(msg)));
}

/** The sessions by which instances know of each other. */
async function sessions(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database()
     WHERE locktype = 'advisory'`,
  );
  return rows.map(({ pid }) => pid);
}

it(
  'two instances without REDIS_URL report it at start and in /health/ready, until one of them is killed',
  async () => {
    const first = await start();
    expect((await petstore(['clients', 'list'], { DATABASE_URL: database.url })).code).toBe(0);
    expect([await shared(first), warningsOf(first)]).toEqual([[true], []]);

    const other = bench.launch({ DATABASE_URL: database.url });
    await until(() => other.log.some((line) => line.includes('Limits are not shared')));
    const lines = other.log.map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      expect.objectContaining({ level: WARN, msg: expect.stringMatching(WARNING) as string }),
    ]);
    await until(async () => (await shared(first))[0] === false);
    expect(warningsOf(first)).toEqual([expect.objectContaining({ level: WARN })]);

    await other.end('SIGKILL');
    await until(async () => (await shared(first))[0] === true);
    expect(first.log.lines).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('Limits are exact again') as string }),
    );
  },
  START_MS,
);

it(
  'instances find each other again when the database has ended all their sessions',
  async () => {
    const [first, second] = [await start(), await start()];
    const before = await sessions();
    expect(before).toHaveLength(2);
    await database.pool.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [before]);
    await until(async () => {
      const now = await sessions();
      return now.length === 2 && now.every((pid) => !before.includes(pid));
    });
    await until(async () => !(await shared(first, second)).some(Boolean));
    await end(second);
    await until(async () => (await shared(first))[0] === true);
  },
  START_MS,
);

it(
  'instances with REDIS_URL report nothing, unless there is one without it',
  async () => {
    const together = { redisUrl: redis.url, instances: 2 };
    const [first, second] = [await start(together), await start(together)];
    expect(await sessions()).toHaveLength(2);
    expect(await shared(first, second)).toEqual([true, true]);
    expect(warningsOf(second)).toEqual([]);

    const alone = await start();
    await until(async () => !(await shared(first, second, alone)).some(Boolean));
    // All services of one process write to the log of the last one.
    const messages = warningsOf(alone).map(({ msg }) => String(msg));
    expect(messages.filter((text) => text.includes('an instance without REDIS_URL'))).toHaveLength(2);
    expect(messages).toHaveLength(3);
    await end(alone);
    await until(async () => (await shared(first, second)).every(Boolean));
  },
  START_MS,
);
