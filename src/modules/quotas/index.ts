import { Module, type Provider } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from '#libs/clock';
import { olderThan } from '#libs/database';
import type { Feature } from '../../feature';
import { SETTINGS } from '../../settings/settings';
import { AccountController } from './account.controller';
import { PlanThrottlerGuard } from './plan-throttler.guard';
import { countDecisions } from './quota-metrics';
import { QuotasService } from './quotas.service';
import { RequestLimiter } from './request-limiter';
import type { QuotaSettings } from './settings';
import { AloneCounters } from './counters/alone-counters';
import { MemoryCounters } from './counters/memory-counters';
import { QuotaRecords } from './counters/quota-records';
import { QuotaCounters } from './counters/quota-counters';
import { QUOTA_SCRIPT } from './counters/quota-script';
import { RedisConnection } from './counters/redis-connection';
import { RedisCounters } from './counters/redis-counters';
import { StoreIdentity } from './store-identity.entity';
import { USAGE_DAYS, UsageDay } from './usage-day.entity';

export { QuotasService } from './quotas.service';
export { PLAN_LIMITS } from './rules/limits';
export { countedAddress, RequestLimiter } from './request-limiter';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { QuotaCounters } from './counters/quota-counters';
export { redisStatus } from './counters/redis-connection';

const QUOTA_COUNTERS: Provider[] = [
  {
    provide: RedisConnection,
    inject: [SETTINGS],
    useFactory: ({ redisUrl }: QuotaSettings) =>
      redisUrl === undefined ? null : new RedisConnection(redisUrl, QUOTA_SCRIPT),
  },
  {
    // Only `RedisCounters` uses `AloneCounters`, while Redis is unavailable.
    provide: AloneCounters,
    inject: [SETTINGS, QuotaRecords, Clock],
    useFactory: ({ instances }: QuotaSettings, records: QuotaRecords, clock: Clock) =>
      new AloneCounters(records, clock, instances),
  },
  {
    provide: QuotaCounters,
    inject: [RedisConnection, AloneCounters, QuotaRecords, Clock],
    useFactory: (redis: RedisConnection | null, alone: AloneCounters, records: QuotaRecords, clock: Clock) =>
      redis === null ? new MemoryCounters(records, clock) : new RedisCounters(redis, alone, records, clock),
  },
];

@Module({
  imports: [TypeOrmModule.forFeature([UsageDay, StoreIdentity])],
  providers: [QuotaRecords, QuotasService],
  exports: [QuotaRecords, QuotasService],
})
class QuotaAdministrationModule {}

@Module({
  imports: [
    QuotaAdministrationModule,
    // The throttler package needs one limit here. The numbers have no effect, because `PlanThrottlerGuard` uses the limits
    // of the client's plan instead. The service uses three parts of the package: `ThrottlerGuard`, on which this guard is
    // based, `@SkipThrottle`, and `normalizeIp`.
    ThrottlerModule.forRoot([{ ttl: 0, limit: 0 }]),
  ],
  controllers: [AccountController],
  providers: [RequestLimiter, PlanThrottlerGuard, ...QUOTA_COUNTERS],
  exports: [QuotaCounters, RequestLimiter, PlanThrottlerGuard],
})
class QuotasModule {}

export const QUOTAS: Feature = {
  module: QuotasModule,
  cliModule: QuotaAdministrationModule,
  expiredRows: [{ table: 'usage_days', condition: olderThan(USAGE_DAYS) }],
  metrics: countDecisions,
  cliCommands: async () => [
    (await import('./clients.command.js')).ClientsCommand,
    (await import('./keys.command.js')).KeysCommand,
    (await import('./quotas.command.js')).QuotasCommand,
  ],
};
