export { BanRegister } from './admin/ban-register';
export { QuotaAdministrationModule } from './admin/administration.module';
export {
  BAN_LEVELS,
  LIMITER_DECISIONS,
  type LimiterDecision,
  earnedBanLevel,
  limiterDecisionOf,
} from './limiter-outcome';
export { InstanceWatch } from './fleet/instance-watch';
export { QuotaOverview, type ClientOverview } from './admin/quota-overview';
export { UsageRanking } from './admin/usage-ranking';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export {
  ADDRESS_LIMITS,
  InvalidPlanError,
  PLANS,
  PLAN_LIMITS,
  agreedPlan,
  limitsOf,
  type Plan,
} from './rules/plans';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { QuotaResets } from './admin/quota-resets';
export { QuotaStore } from './counting/quota-store';
export { RequestLimiter } from './request-limiter';
