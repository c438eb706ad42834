import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { RetentionModule } from '#libs/retention';
import { AuthModule } from '../auth';
import { AccountController } from './account/account.controller';
import { USAGE_DAYS, UsageService } from './account/usage.service';
import { BansModule } from './bans/bans.module';
import { ChangesListener } from './changes-listener';
import { InstanceWatch } from './instance-watch';
import { PlanThrottlerGuard } from './plan-throttler.guard';
import { ADDRESS_LIMITS } from './plans';
import { MINUTE_MS } from './rate-window';
import { RequestLimiter } from './request-limiter';
import { ResetsModule } from './resets/resets.module';
import { QuotaRecords } from './store/quota-records';
import { QuotaStore } from './store/quota-store';
import { QUOTA_STORE, REDIS_BUDGET_OF_SERVICE } from './fleet/provide-quota-store';

/** How much a client may call: plans, windows, bans, and the header fields that tell. */
@Module({
  imports: [
    AuthModule,
    BansModule,
    ResetsModule,
    RetentionModule.keep({ table: 'usage_days', dayColumn: 'day', days: USAGE_DAYS }),
    // The module asks for a throttler to name; its numbers are not used, because PlanThrottlerGuard counts by plan.
    ThrottlerModule.forRoot([{ ttl: MINUTE_MS, limit: ADDRESS_LIMITS.perMinute }]),
  ],
  controllers: [AccountController],
  providers: [
    QuotaRecords,
    UsageService,
    RequestLimiter,
    PlanThrottlerGuard,
    QUOTA_STORE,
    InstanceWatch,
    REDIS_BUDGET_OF_SERVICE,
    ChangesListener,
  ],
  exports: [QuotaStore, RequestLimiter, PlanThrottlerGuard, InstanceWatch],
})
export class QuotasModule {}
