import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ClockModule } from '#libs/clock';
import { CommandsModule } from '#libs/commands';
import { DatabaseModule } from '#libs/database';
import { AllowedMethods, JsonBodyGuard } from '#libs/http';
import { RequestValidationPipe, UnknownQueryGuard } from '#libs/validation';
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
import { AnswerHeaders } from './http/answer-headers';
import { AnswerInterceptor } from './http/answer.interceptor';
import { ErrorFilter } from './http/error.filter';
import { PlanThrottlerGuard, QuotasModule } from './modules/quotas';
import { WebhooksModule } from './modules/webhooks';
import { SeedModule } from './runtime/seed';
import { type Settings, asConfiguration } from './settings';

/**
 * The path of every request, from top to bottom. Operations add what is theirs alone (ETag, idempotency, pages). A path or
 * method that does not exist goes from `Admission` straight to `ErrorFilter`.
 */
const PIPELINE = [
  Admission, // wired first, in http-server.ts, so that nothing bypasses it: who calls, and is that within the limits? The verdict travels with the request
  { provide: APP_GUARD, useExisting: PlanThrottlerGuard }, // within the limits? (429, 403 banned)
  { provide: APP_GUARD, useExisting: ApiKeyGuard }, // with a valid key and the right scope? (401, 403)
  { provide: APP_GUARD, useExisting: SunsetGuard }, // is the operation still there? (410)
  { provide: APP_GUARD, useClass: UnknownQueryGuard }, // nothing in the query that is not known? (400)
  { provide: APP_GUARD, useClass: JsonBodyGuard }, // a body that can be read? (400, 413, 415)
  { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor }, // ETag (304), Link, rate limit and deprecation headers
  { provide: APP_PIPE, useClass: RequestValidationPipe }, // the values that the operation takes? (400)
  { provide: APP_FILTER, useClass: ErrorFilter }, // whatever failed, and wherever
];

@Module({})
export class AppModule {
  /** @param databaseUrl the database's address, which the settings do not know when it is an embedded one */
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
      providers: [AllowedMethods, AnswerHeaders, ...PIPELINE],
    };
  }
}
