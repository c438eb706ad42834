import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ClockModule } from '#libs/clock';
import { CommandsModule, DatabaseModule } from '#libs/database';
import { AllowedMethods, InputGuard, RequestValidationPipe } from '#libs/http';
import { AuditModule } from './modules/audit';
import { ApiKeyGuard, AuthModule } from './modules/auth';
import { CategoriesModule } from './modules/categories';
import { connectAndMigrate, dataSourceOptions } from './runtime/data-source';
import { DeprecationsModule, SunsetGuard } from './modules/deprecations';
import { EventsModule } from './modules/events';
import { HealthModule } from './runtime/health';
import { InventoryModule } from './modules/inventory';
import { OrdersModule } from './modules/orders';
import { PetsModule } from './modules/pets';
import { MetricsModule } from './runtime/metrics';
import { Admission } from './http/admission';
import { ErrorFilter } from './http/error.filter';
import { ResponseHeaders, ResponseInterceptor } from './http/response.interceptor';
import { PlanThrottlerGuard, QuotasModule } from './modules/quotas';
import { WebhooksModule } from './modules/webhooks';
import { SeedModule } from './runtime/seed';
import { type Settings, asConfiguration } from './settings';

/**
 * The path of every request, from top to bottom. Operations add their own steps (ETag, idempotency, pages). Unknown
 * paths and methods go from `Admission` straight to `ErrorFilter`.
 */
const PIPELINE = [
  Admission, // called first, in http-server.ts, so that nothing bypasses it: identifies the caller and counts the request
  { provide: APP_GUARD, useExisting: PlanThrottlerGuard }, // limits and bans (429, 403)
  { provide: APP_GUARD, useExisting: ApiKeyGuard }, // key and scope (401, 403)
  { provide: APP_GUARD, useExisting: SunsetGuard }, // sunset of the operation (410)
  { provide: APP_GUARD, useClass: InputGuard }, // unknown query parameters, unreadable bodies (400, 413, 415)
  { provide: APP_INTERCEPTOR, useClass: ResponseInterceptor }, // ETag (304), Link, rate limit and deprecation headers
  { provide: APP_PIPE, useClass: RequestValidationPipe }, // invalid values (400)
  { provide: APP_FILTER, useClass: ErrorFilter }, // all failures, wherever they occur
];

@Module({})
export class AppModule {
  /** @param databaseUrl the database's URL; the settings lack it if the database is embedded */
  static forRoot(settings: Settings, databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot({ isGlobal: true, ignoreEnvFile: true, load: [asConfiguration(settings)] }),
        ClockModule,
        DatabaseModule.forRoot(
          databaseUrl,
          dataSourceOptions(databaseUrl, settings.databasePool),
          connectAndMigrate,
        ),
        CommandsModule,
        AuditModule.forRoot({ kind: 'service', name: 'service' }),
        AuthModule,
        QuotasModule,
        DeprecationsModule,
        CategoriesModule,
        PetsModule,
        InventoryModule,
        OrdersModule,
        EventsModule,
        WebhooksModule,
        HealthModule,
        SeedModule,
        MetricsModule,
      ],
      providers: [AllowedMethods, ResponseHeaders, ...PIPELINE],
    };
  }
}
