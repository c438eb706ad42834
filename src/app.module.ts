import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Clock } from '#libs/clock';
import { CommandExecutor, Database, DatabaseModule, Retention } from '#libs/database';
import { InputGuard, RequestValidationPipe } from '#libs/http';
import type { AllSettings } from './all-settings';
import { FEATURES } from './features';
import { ErrorFilter } from './http/error.filter';
import { HealthController, Readiness } from './http/health';
import { ResponseInterceptor } from './http/response.interceptor';
import { Actor } from './modules/audit';
import { ApiKeyGuard, CLIENT_DEPENDENTS } from './modules/auth';
import { SunsetGuard } from './modules/deprecations';
import { writeModelWithEvents } from './modules/events';
import { PlanThrottlerGuard } from './modules/quotas';
import { OUTGOING_SOCKETS, SETTINGS } from './settings/settings';
import { connectAndMigrate, dataSourceOptions } from './store/data-source';
import { EXPIRED_INSTANCES, Presence } from './store/presence';
import { SeedService } from './store/seed';

/**
 * The stages of every request, in this order. A request without a route or with an unreadable body skips the other
 * stages and goes straight to `ErrorFilter`. "The path of one request" in docs/development/architecture.md describes
 * all stages.
 */
const PIPELINE = [
  // Before the guards, `configureHttp` refuses malformed requests (400) and answers CORS preflights (204). Then Fastify
  // finds the route (404, 405) and parses the body (400, 413, 415).
  { provide: APP_GUARD, useExisting: PlanThrottlerGuard }, // refuses banned keys (403) and requests over a limit (429)
  { provide: APP_GUARD, useExisting: ApiKeyGuard }, // checks the key (401) and its scope (403)
  { provide: APP_GUARD, useExisting: SunsetGuard }, // ends deprecated operations after their sunset (410)
  { provide: APP_GUARD, useClass: InputGuard }, // refuses unknown query parameters and unexpected bodies (400)
  { provide: APP_INTERCEPTOR, useClass: ResponseInterceptor }, // sets header fields, and responds 304 if the ETag matches
  // Here `IdempotencyInterceptor`, which `@SendsCommands` adds to each POST, sends the stored response of an
  // `Idempotency-Key`, or refuses the key (409, 422).
  { provide: APP_PIPE, useClass: RequestValidationPipe }, // refuses invalid values (400)
  { provide: APP_FILTER, useClass: ErrorFilter }, // turns every failure into an error response
];

const RETENTION: Provider = {
  provide: Retention,
  inject: [Database, Clock],
  useFactory: (database: Database, clock: Clock) =>
    new Retention(database, clock, [
      ...FEATURES.flatMap(({ expiredRows = [] }) => expiredRows),
      EXPIRED_INSTANCES,
    ]),
};

const SERVICE: Actor = { kind: 'service', name: 'service' };

function commonProviders(settings: AllSettings, actor: Actor) {
  const model = writeModelWithEvents(FEATURES.flatMap(({ tables = [] }) => tables));
  return [
    { provide: SETTINGS, useValue: settings },
    { provide: Actor, useValue: actor },
    Clock,
    { provide: CLIENT_DEPENDENTS, useValue: FEATURES.flatMap(({ clientDependent = [] }) => clientDependent) },
    {
      provide: CommandExecutor,
      inject: [Database, Clock],
      useFactory: (database: Database, clock: Clock) =>
        new CommandExecutor(database, model, () => clock.now()),
    },
  ];
}

@Global()
@Module({ exports: [SETTINGS, Actor, Clock, CLIENT_DEPENDENTS, CommandExecutor] })
export class AppModule {
  /**
   * @param databaseUrl the URL of the open database, also if the database is embedded
   * @param outgoingSockets how many sockets the process may open to other servers
   */
  static forService(settings: AllSettings, databaseUrl: string, outgoingSockets = Infinity): DynamicModule {
    const options = dataSourceOptions(databaseUrl, { poolSize: settings.databasePool });
    const connect = (declared: DataSourceOptions) => connectAndMigrate(databaseUrl, declared);
    const common = commonProviders(settings, SERVICE);
    return {
      module: AppModule,
      imports: [DatabaseModule.forRoot(options, connect), ...FEATURES.map(({ module }) => module)],
      controllers: [HealthController],
      providers: [
        ...common,
        ...PIPELINE,
        { provide: OUTGOING_SOCKETS, useValue: outgoingSockets },
        Presence,
        Readiness,
        RETENTION,
        SeedService,
      ],
      exports: [OUTGOING_SOCKETS],
    };
  }

  /** Returns the module with the services for the command line. The database is opened later, if a command needs it. */
  static forCommandLine(settings: AllSettings, actor: Actor): DynamicModule {
    const options = { type: 'postgres', manualInitialization: true } as const;
    const unconnected = (declared: DataSourceOptions) => Promise.resolve(new DataSource(declared));
    const modules = FEATURES.map(({ module, cliModule = module }) => cliModule);
    return {
      module: AppModule,
      imports: [DatabaseModule.forRoot(options, unconnected), ...modules],
      providers: [...commonProviders(settings, actor), SeedService],
      exports: [SeedService, ...modules],
    };
  }
}
