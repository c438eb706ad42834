import { ApiClient } from '../../../support/api-client';
import { petstoreJson } from '../../../support/command-line';
import { RedisServer } from '../../../support/redis-server';
import { type KeyOptions, type TestService, startService } from '../../../support/service';
import { ServiceBench, type ServiceProcess } from '../../../support/service-process';
import { spread } from '../../../support/spread';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const SIZE = 3;

/** Three servers, real processes with the real time, over one PostgreSQL and one Redis. */
export class Fleet {
  private constructor(
    private readonly bench: ServiceBench,
    readonly redis: RedisServer,
    readonly database: TestDatabase,
    /** Makes clients and keys, and has the document; no request of a test goes there. */
    private readonly office: TestService,
    private readonly environment: Record<string, string>,
    /** Those that run. */
    private running: ServiceProcess[],
  ) {}

  static async start(): Promise<Fleet> {
    const [redis, database] = await Promise.all([RedisServer.start(), createTestDatabase('template1')]);
    const bench = new ServiceBench();
    const environment = { DATABASE_URL: database.url, REDIS_URL: redis.url, INSTANCES: String(SIZE) };
    // All at once on an empty database: one of them migrates.
    const services = await Promise.all(Array.from({ length: SIZE }, () => bench.serve(environment)));
    await Fleet.expectNoData(database, services);
    const office = await startService({ database, settings: { redisUrl: redis.url } });
    const fleet = new Fleet(bench, redis, database, office, environment, services);
    await fleet.warmUp();
    return fleet;
  }

  /** Example data and their key are for an embedded database only. */
  private static async expectNoData({ pool }: TestDatabase, services: ServiceProcess[]): Promise<void> {
    const count = 'SELECT (SELECT count(*) FROM pets) + (SELECT count(*) FROM clients) AS rows';
    expect((await pool.query(count)).rows).toEqual([{ rows: '0' }]);
    expect(services.map(({ stdout }) => stdout).join()).not.toContain('psk_live_');
  }

  issueKey(options?: KeyOptions): Promise<{ key: string; keyId: number; client: string }> {
    return this.office.issueKey(options);
  }

  get urls(): string[] {
    return this.running.map(({ url }) => url);
  }

  /** One caller for each running instance, all with this key. */
  callers(key: string): ApiClient[] {
    return this.urls.map((url) => new ApiClient(url, this.office.contract, { 'X-API-Key': key }));
  }

  /** Runs a command of the admin CLI beside the fleet; rejects unless it succeeds. */
  async command(...args: string[]): Promise<void> {
    await petstoreJson(args, this.environment);
  }

  /** Ends one instance as a failing machine would. */
  async killOne(): Promise<void> {
    const [victim, ...others] = this.running;
    this.running = others;
    await victim!.end('SIGKILL');
  }

  /** Starts one in the place of the one that was ended. */
  async startOne(): Promise<void> {
    this.running.push(await this.bench.serve(this.environment));
  }

  /** What the running instances have logged: warnings and worse. */
  get complaints(): string[] {
    const lines = this.running.flatMap(({ stdout, stderr }) => `${stdout}${stderr}`.split('\n'));
    return lines.filter((line) => line.startsWith('{'));
  }

  /** A process that has just started answers slowly at first, which is not the subject here. */
  private async warmUp(): Promise<void> {
    const { key } = await this.issueKey();
    await spread(this.callers(key), 100, (caller) => caller.get('/categories'));
  }

  async close(): Promise<void> {
    await this.bench.clear();
    await this.office.close();
    await this.database.drop();
    await this.redis.close();
  }
}
