export { QuotaAdministrationModule } from './administration';
export { BanRegister, QuotaResets } from './operator-changes';
export { QuotaOverview, type ClientOverview } from './reports/quota-overview';
export { UsageRanking, UsageService } from './reports/usage';
export { AGREED_PLANS, InvalidPlanError, PLANS, agreedPlan, limitsOf, type Plan } from './rules/plans';
export {
  InstanceWatch,
  RUNNING_INSTANCES,
  type RunningInstance,
  newServiceId,
  shareLimits,
} from './instances';
export { QuotasModule, WorkerQuotaServerModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { PlanThrottlerGuard, countingRuleOf, noteSkipped } from './plan-throttler.guard';
export {
  LIMITER_DECISIONS,
  type LimiterDecision,
  RequestLimiter,
  limiterDecisionOf,
} from './request-limiter';
export { BAN_LEVELS } from './rules/ban-rules';
export { QuotaStore } from './stores/quota-store';
export { type RedisStatus, redisStatus } from './stores/redis-connection';
export { WorkerQuotaServer } from './stores/worker-quota-store';
