// For operators: plans, bans, usage and resets, without the counting that requests need.
export { UsageService } from './usage.service';
export { BanRegister } from './admin/ban-register';
export { QuotaAdministrationModule } from './admin/administration.module';
export { QuotaOverview, type ClientOverview } from './admin/quota-overview';
export { UsageRanking } from './admin/usage-ranking';
export { InvalidPlanError, PLANS, agreedPlan, limitsOf, type Plan } from './rules/plans';
export { QuotaResets } from './admin/quota-resets';
