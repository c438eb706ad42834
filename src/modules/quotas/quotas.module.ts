import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { RetentionModule } from '#libs/database';
import { AuthModule } from '../auth';
import { AccountController } from './account.controller';
import { USAGE_DAYS } from './usage.service';
import { QuotaAdministrationModule } from './admin/administration.module';
import { ChangesListener } from './counting/changes-listener';
import { InstanceWatch } from './counting/instance-watch';
import { PlanThrottlerGuard } from './plan-throttler.guard';
import { ADDRESS_LIMITS } from './rules/plans';
import { MINUTE_MS } from './rules/rate-window';
import { RequestLimiter } from './request-limiter';
import { QuotaStore } from './counting/quota-store';
import { QUOTA_STORE, REDIS } from './quota-store.provider';

/** Rate limits: plans, windows, bans and their headers. */
@Module({
  imports: [
    AuthModule,
    QuotaAdministrationModule,
    RetentionModule.keep({ table: 'usage_days', dayColumn: 'day', days: USAGE_DAYS }),
    // Required by the module, but unused: PlanThrottlerGuard counts by plan.
    ThrottlerModule.forRoot([{ ttl: MINUTE_MS, limit: ADDRESS_LIMITS.perMinute }]),
  ],
  controllers: [AccountController],
  providers: [RequestLimiter, PlanThrottlerGuard, QUOTA_STORE, InstanceWatch, ...REDIS, ChangesListener],
  exports: [QuotaStore, RequestLimiter, PlanThrottlerGuard, InstanceWatch],
})
export class QuotasModule {}
