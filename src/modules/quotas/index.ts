export * from './administration';
export {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from './limiter-outcome';
export { WorkerQuotaServer, WorkerQuotaServerModule } from './workers/worker-quota-server';
export { InstanceWatch, newServiceId } from './counting/instance-watch';
export { NEVER_COUNTED, Counted, countingRuleOf } from './counted.decorator';
export { type RedisState, redisState } from './admin/redis-state';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { QuotaStore } from './counting/quota-store';
export { RequestLimiter } from './request-limiter';
export { RUNNING_INSTANCES, type RunningInstance, shareLimits } from './counting/running-instances';
