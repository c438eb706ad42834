import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Registry } from 'prom-client';
import { Test } from '@nestjs/testing';
import { Clock } from '#libs/clock';
import { ManualClock } from './manual-clock';
import { Retention } from '#libs/database';
import type { Connections } from '#libs/http';
import { AppModule } from '../../src/app.module';
import { ClientsService, type Scope } from '../../src/modules/auth';
import { NEST_OPTIONS, configureServer } from '../../src/runtime/serve';
import { createHttpAdapter, type ServerTimeouts } from '../../src/http/http-server';
import { createLogger, nestLogger } from '../../src/runtime/logging';
import { RedisConnection } from '../../src/modules/quotas/counters/redis-connection';
import { type AllSettings, readSettings } from '../../src/all-settings';
import { ApiCaller } from './api-caller';
import { DocumentContract } from './document-contract';
import { within } from './eventually';
import { LOOPBACK_WEBHOOKS } from './receiver';
import { patient, RedisOnClock } from './redis-clock';
import { type TestDatabase, createTestDatabase } from './test-database';
import { WatchedLog } from './watched-log';

export interface ServiceOptions {
  settings?: Partial<AllSettings>;
  timeouts?: Partial<ServerTimeouts>;
  /** A database to use instead of a new clone. The test that passes it also drops it. */
  database?: TestDatabase;
  /** The URL at which the service reaches the database if it differs from the database's own, such as that of a proxy. */
  databaseUrl?: string;
}

export interface KeyOptions {
  plan?: string;
  perMinute?: number;
  perDay?: number;
  scopes?: Scope[];
  expiresAt?: Date;
}

type ServiceParts = Pick<
  TestService,
  'app' | 'clock' | 'database' | 'ownsDatabase' | 'log' | 'connections' | 'metrics'
>;

/** A running service with a database of its own and a clock that the test moves. */
export class TestService {
  readonly app!: NestFastifyApplication;
  readonly clock!: ManualClock;
  readonly database!: TestDatabase;
  /** True if the service drops its database when it closes. */
  readonly ownsDatabase!: boolean;
  readonly log!: WatchedLog;
  readonly connections!: Connections;
  readonly metrics!: Registry | null;
  readonly document: OpenAPIObject;
  readonly contract: DocumentContract;
  /** Counted over all services, because services that share a database need different names for their clients. */
  private static clients = 0;

  constructor(parts: ServiceParts, documentText: string) {
    Object.assign(this, parts);
    this.document = JSON.parse(documentText) as OpenAPIObject;
    this.contract = DocumentContract.forDocument(documentText);
  }

  get port(): number {
    return (this.app.getHttpServer() as { address(): AddressInfo }).address().port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Creates a client with a key. If no plan is given, no test reaches the limits of the client. */
  async issueKey(options: KeyOptions = {}): Promise<{ key: string; keyId: number; client: string }> {
    const { plan = 'enterprise', scopes, expiresAt } = options;
    const custom = plan === 'enterprise' ? 1_000_000 : null;
    const { perMinute = custom, perDay = custom } = options;
    TestService.clients += 1;
    const client = `client-${TestService.clients}`;
    await this.app.get(ClientsService).create(client, { plan, perMinute, perDay });
    const { key, record } = await this.app.get(ClientsService).issueKey({ client, scopes, expiresAt });
    this.log.forbid(key);
    return { key, keyId: record.id, client };
  }

  /** A caller without a key. Every answer to it is checked against the served OpenAPI document. */
  anonymous(): ApiCaller {
    return new ApiCaller(this.url, this.contract);
  }

  callerWith(key: string): ApiCaller {
    return this.anonymous().with({ 'X-API-Key': key });
  }

  async caller(options: KeyOptions = {}): Promise<ApiCaller> {
    return this.callerWith((await this.issueKey(options)).key);
  }

  /** Deletes all rows that have expired. @returns how many */
  deleteExpired(): Promise<number> {
    return this.app.get(Retention).deleteExpired();
  }

  /** Stops the service. If its log has an API key, this rejects. */
  async close(): Promise<void> {
    // The process does the same when it stops, because a connection that is kept alive would delay the end for a minute.
    this.connections.announceEnd();
    await within('the end of the service', this.app.close());
    if (this.ownsDatabase) {
      await within('the end of its database', this.database.drop());
    }
    this.log.expectNoKeys();
  }
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const ownsDatabase = options.database === undefined;
  const database = options.database ?? (await within('a new database', createTestDatabase()));
  const databaseUrl = new URL(options.databaseUrl ?? database.url);
  // Long limits, because slow machines run these tests, too.
  databaseUrl.searchParams.set('statement_timeout', '120000');
  databaseUrl.searchParams.set('connect_timeout', '120');
  const environment = { METRICS_PORT: 'off', DATABASE_URL: databaseUrl.href, ...LOOPBACK_WEBHOOKS };
  const settings = { ...readSettings(environment), ...options.settings };
  const { redisUrl } = settings;
  const clock = new ManualClock();
  const log = new WatchedLog();
  const logger = createLogger('trace', log);
  const testing = Test.createTestingModule({
    imports: [AppModule.forService(settings, databaseUrl.href)],
  })
    .overrideProvider(Clock)
    .useValue(clock)
    .overrideProvider(RedisConnection)
    .useFactory({
      factory: () => (redisUrl === undefined ? null : new RedisOnClock(patient(redisUrl), clock)),
    })
    .setLogger(nestLogger(logger));
  const compiled = await within('the modules of the service', testing.compile());
  const app = compiled.createNestApplication<NestFastifyApplication>(
    createHttpAdapter(settings, logger, options.timeouts),
    NEST_OPTIONS,
  );
  const { connections, metrics } = configureServer(app, settings);
  await within('the start of the service', app.listen(0, '127.0.0.1'));
  const port = (app.getHttpServer() as { address(): AddressInfo }).address().port;
  const answer = await within('the OpenAPI document', fetch(`http://127.0.0.1:${port}/openapi.json`));
  const document = await answer.text();
  return new TestService({ app, clock, database, ownsDatabase, log, connections, metrics }, document);
}
