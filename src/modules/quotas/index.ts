export { QuotasService } from './quotas.service';
export {
  AGREED_PLANS,
  InvalidPlanError,
  PLANS,
  PLAN_LIMITS,
  agreedPlan,
  limitsOf,
  type Plan,
} from './rules/limits';
export { QuotaAdministrationModule, QuotasModule } from './quotas.module';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { countedAddress, LIMITER_DECISIONS, limiterDecisionOf, RequestLimiter } from './request-limiter';
export {
  ApiKeyBannedError,
  DailyQuotaExceededError,
  limitErrorOf,
  RateLimitExceededError,
} from './rate-limit-errors';
export { BAN_LEVELS } from './rules/decision';
export { QuotaStore } from './stores/quota-store';
export { redisStatus } from './stores/redis-connection';
