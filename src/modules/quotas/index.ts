export * from './administration';
export { BAN_LEVELS } from './rules/ban-rules';
export { WorkerQuotaServer, WorkerQuotaServerModule } from './workers/worker-quota-server';
export { InstanceWatch, newServiceId } from './counting/instance-watch';
export { NEVER_COUNTED, Counted, countingRuleOf } from './counted.decorator';
export { type RedisStatus, redisStatus } from './admin/redis-status';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { QuotaStore } from './counting/quota-store';
export {
  LIMITER_DECISIONS,
  type LimiterDecision,
  RequestLimiter,
  limiterDecisionOf,
} from './request-limiter';
export { RUNNING_INSTANCES, type RunningInstance, shareLimits } from './counting/running-instances';
