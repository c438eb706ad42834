import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ClockModule } from '#libs/clock';
import { CommandsModule, DatabaseModule } from '#libs/database';
import { AllowedMethods, InputGuard, RequestValidationPipe } from '#libs/http';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { type Actor, AuditModule } from './modules/audit';
import { ClientAdministrationModule, ApiKeyGuard, AuthModule } from './modules/auth';
import { CATALOGUE_LISTS, type CatalogueList, CatalogueModule } from './modules/catalogue';
import { CATEGORIES, CategoriesModule, CategoriesService, NewCategoryDto } from './modules/categories';
import { commandOptions, connectAndMigrate, dataSourceOptions } from './runtime/data-source';
import { DeprecationReportModule, DeprecationsModule, SunsetGuard } from './modules/deprecations';
import { EventLogModule, EventsModule, reportedWrites } from './modules/events';
import { HealthModule } from './runtime/health';
import { IdempotencyModule } from './modules/idempotency';
import { InventoryModule, STOCK, StockOperations } from './modules/inventory';
import { OpenOrders, ORDERS, OrdersModule } from './modules/orders';
import { PetDependents, PETS, PetsModule } from './modules/pets';
import { MetricsModule } from './runtime/metrics';
import { PresenceModule } from './runtime/presence';
import { ErrorFilter } from './http/error.filter';
import { ResponseInterceptor } from './http/response.interceptor';
import { PlanThrottlerGuard, QuotaAdministrationModule, QuotasModule } from './modules/quotas';
import { WEBHOOKS, WebhookAdministrationModule, WebhooksModule } from './modules/webhooks';
import { SeedModule } from './runtime/seed';
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

/**
 * Who takes part in a write, parents before children: rows are locked and written in this order, and reported in the
 * reverse one.
 */
const PARTICIPANTS = [CATEGORIES, PETS, STOCK, ORDERS, ...WEBHOOKS];
/** A new pet gets stock, and open orders prevent its deletion. */
const PET_DEPENDENTS: PetDependents = { stock: StockOperations, openOrders: OpenOrders };

/** What a catalogue lists besides pets. */
const LISTS: CatalogueList[] = [
  { kind: 'category', plural: 'categories', body: NewCategoryDto, service: CategoriesService },
];

/** What the store sells, for a service and for commands. */
const STORE_MODULES = [CategoriesModule, PetsModule, InventoryModule, OrdersModule];

/** The connections of the first process of several, which only prepares the store. */
const PREPARATION_POOL = 2;

/** Assembles every process of the application: a service, the first process of one with workers, a command. */
@Module({})
export class AppModule {
  /**
   * A service, alone or as one of several workers.
   * @param databaseUrl the settings lack it if the database is embedded
   */
  static forService(settings: Settings, databaseUrl: string): DynamicModule {
    const database = DatabaseModule.forRoot(
      dataSourceOptions(databaseUrl, settings.databasePool),
      connectAndMigrate,
    );
    return {
      module: AppModule,
      imports: [
        ...foundation(settings, database, SERVICE),
        AuthModule,
        QuotasModule,
        DeprecationsModule,
        ...STORE_MODULES,
        EventsModule,
        IdempotencyModule,
        WebhooksModule,
        HealthModule,
        SeedModule,
        MetricsModule,
        PresenceModule,
      ],
      providers: [AllowedMethods, ...PIPELINE],
    };
  }

  /** The first process of a service with workers: migrates the store, and seeds a new one. */
  static forPreparation(settings: Settings, databaseUrl: string): DynamicModule {
    const database = DatabaseModule.forRoot(
      dataSourceOptions(databaseUrl, PREPARATION_POOL),
      connectAndMigrate,
    );
    return { module: AppModule, imports: [...foundation(settings, database, SERVICE), SeedModule] };
  }

  /** The services that commands use. The database is opened later, and only by a command that needs it. */
  static forCommands(settings: Settings, actor: Actor): DynamicModule {
    const options = { ...commandOptions(''), manualInitialization: true };
    const prepare = (declared: DataSourceOptions) => Promise.resolve(new DataSource(declared));
    const modules = [
      QuotaAdministrationModule,
      ClientAdministrationModule,
      SeedModule,
      CatalogueModule,
      ...STORE_MODULES,
      DeprecationReportModule,
      WebhookAdministrationModule,
    ];
    return {
      module: AppModule,
      imports: [...foundation(settings, DatabaseModule.forRoot(options, prepare), actor), ...modules],
      exports: modules,
    };
  }
}

class CommonModule {}

const SERVICE: Actor = { kind: 'service', name: 'service' };

function foundation(
  settings: Settings,
  database: DynamicModule,
  actor: Actor,
): DynamicModule['imports'] & {} {
  return [
    {
      global: true,
      module: CommonModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: PetDependents, useValue: PET_DEPENDENTS },
        { provide: CATALOGUE_LISTS, useValue: LISTS },
      ],
      exports: [SETTINGS, PetDependents, CATALOGUE_LISTS],
    },
    ClockModule,
    database,
    CommandsModule.of(reportedWrites(PARTICIPANTS)),
    EventLogModule,
    AuditModule.forRoot(actor),
  ];
}
