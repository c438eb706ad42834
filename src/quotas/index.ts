export { BanRegister } from './bans/ban-register';
export { BansModule } from './bans/bans.module';
export { PlanThrottlerGuard } from './plan-throttler.guard';
export { InvalidPlanError, MAX_LIMIT, PLANS, agreedPlan, limitsOf, type Plan } from './plans';
export { QuotasModule } from './quotas.module';
export { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
export { RateLimitHeadersInterceptor } from './rate-limit-headers.interceptor';
export { QuotaStore } from './store/quota-store';
export { RequestLimiter } from './request-limiter';
