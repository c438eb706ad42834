export { BanRegister } from './bans/ban-register';
export { BansModule } from './bans/bans.module';
export {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from './limiter-outcome';
export { InstanceWatch } from './instance-watch';
export { OverviewModule } from './overview/overview.module';
export { QuotaOverview, type ClientOverview } from './overview/quota-overview';
export { type RedisState, redisState } from './overview/redis-state';
export { UsageRanking } from './overview/usage-ranking';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { InvalidPlanError, MAX_LIMIT, PLANS, agreedPlan, limitsOf, type Plan } from './plans';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { QuotaResets } from './resets/quota-resets';
export { ResetsModule } from './resets/resets.module';
export { QuotaStore } from './store/quota-store';
export { RequestLimiter } from './request-limiter';
export { RUNNING_INSTANCES, type RunningInstance, shareLimits } from './running-instances';
