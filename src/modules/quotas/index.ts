export * from './administration';
export {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from './limiter-outcome';
export { InstanceWatch } from './instance-watch';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { QuotaStore } from './store/quota-store';
export { RequestLimiter } from './request-limiter';
