// The face for those who run the service: plans, bans, usage and resets without the counting that requests need.
export { BanRegister } from './admin/ban-register';
export { BansModule } from './admin/bans.module';
export { OverviewModule } from './admin/overview.module';
export { QuotaOverview, type ClientOverview } from './admin/quota-overview';
export { UsageRanking } from './admin/usage-ranking';
export { InvalidPlanError, MAX_LIMIT, PLANS, agreedPlan, limitsOf, type Plan } from './rules/plans';
export { QuotaResets } from './admin/quota-resets';
export { ResetsModule } from './admin/resets.module';
