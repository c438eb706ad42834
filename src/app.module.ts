import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Clock, SystemClock } from '#libs/clock';
import { CommandExecutor, Database, DatabaseModule, Retention } from '#libs/database';
import { InputGuard, RequestValidationPipe } from '#libs/http';
import { FEATURES } from './features';
import { ErrorFilter } from './http/error.filter';
import { ResponseInterceptor } from './http/response.interceptor';
import { Actor } from './modules/audit';
import { ApiKeyGuard, CLIENT_DEPENDENTS } from './modules/auth';
import { SunsetGuard } from './modules/deprecations';
import { reportedWrites } from './modules/events';
import { PlanThrottlerGuard } from './modules/quotas';
import { commandOptions, connectAndMigrate, dataSourceOptions } from './runtime/data-source';
import { HealthController, Readiness } from './runtime/health';
import { EXPIRED_INSTANCES, Presence } from './runtime/presence';
import { SeedService } from './runtime/seed';
import { SETTINGS, type Settings } from './settings';

/**
 * The path of every request, from top to bottom. Operations add their own steps (ETag, idempotency, pages). What fails before
 * any guard goes straight to `ErrorFilter`: unknown paths and methods, and bodies that cannot be read (400, 413, 415).
 */
const PIPELINE = [
  { provide: APP_GUARD, useExisting: PlanThrottlerGuard }, // identifies the caller and counts: limits and bans (429, 403)
  { provide: APP_GUARD, useExisting: ApiKeyGuard }, // key and scope (401, 403)
  { provide: APP_GUARD, useExisting: SunsetGuard }, // sunset of the operation (410)
  { provide: APP_GUARD, useClass: InputGuard }, // unknown query parameters, a body where there is none (400)
  { provide: APP_INTERCEPTOR, useClass: ResponseInterceptor }, // ETag (304), Link, rate limit and deprecation headers
  { provide: APP_PIPE, useClass: RequestValidationPipe }, // invalid values (400)
  { provide: APP_FILTER, useClass: ErrorFilter }, // all failures, wherever they occur
];

const RETENTION: Provider = {
  provide: Retention,
  inject: [Database, Clock],
  useFactory: (database: Database, clock: Clock) =>
    new Retention(database, clock, [...FEATURES.flatMap(({ expired = [] }) => expired), EXPIRED_INSTANCES]),
};

const SERVICE: Actor = { kind: 'service', name: 'service' };

/** What all modules can inject. @param actor the author of all changes, for the audit log */
function commonProviders(settings: Settings, actor: Actor) {
  const writes = reportedWrites(FEATURES.flatMap(({ tables = [] }) => tables));
  return [
    { provide: SETTINGS, useValue: settings },
    { provide: Actor, useValue: actor },
    { provide: Clock, useClass: SystemClock },
    { provide: CLIENT_DEPENDENTS, useValue: FEATURES.flatMap(({ ofClient = [] }) => ofClient) },
    {
      provide: CommandExecutor,
      inject: [Database, Clock],
      useFactory: (database: Database, clock: Clock) =>
        new CommandExecutor(database, writes, () => clock.now()),
    },
  ];
}

/** Assembles a process of the application: a service, or a command. */
@Global()
@Module({ exports: [SETTINGS, Actor, Clock, CLIENT_DEPENDENTS, CommandExecutor] })
export class AppModule {
  /** @param databaseUrl the settings lack it if the database is embedded */
  static forService(settings: Settings, databaseUrl: string): DynamicModule {
    const options = dataSourceOptions(databaseUrl, settings.databasePool);
    const common = commonProviders(settings, SERVICE);
    return {
      module: AppModule,
      imports: [DatabaseModule.forRoot(options, connectAndMigrate), ...FEATURES.map(({ module }) => module)],
      controllers: [HealthController],
      providers: [...common, ...PIPELINE, Presence, Readiness, RETENTION, SeedService],
    };
  }

  /** The services that commands use. The database is opened later, and only by a command that needs it. */
  static forCommands(settings: Settings, actor: Actor): DynamicModule {
    const options = { ...commandOptions(''), manualInitialization: true };
    const prepare = (declared: DataSourceOptions) => Promise.resolve(new DataSource(declared));
    const modules = FEATURES.map(({ module, commandModule = module }) => commandModule);
    return {
      module: AppModule,
      imports: [DatabaseModule.forRoot(options, prepare), ...modules],
      providers: [...commonProviders(settings, actor), SeedService],
      exports: [SeedService, ...modules],
    };
  }
}
