// The face for those who run the service: plans, bans, usage and resets without the counting that requests need.
export { UsageService } from './account/usage.service';
export { BanRegister } from './bans/ban-register';
export { BansModule } from './bans/bans.module';
export { OverviewModule } from './overview/overview.module';
export { QuotaOverview, type ClientOverview } from './overview/quota-overview';
export { UsageRanking } from './overview/usage-ranking';
export { InvalidPlanError, MAX_LIMIT, PLANS, agreedPlan, limitsOf, type Plan } from './plans';
export { QuotaResets } from './resets/quota-resets';
export { ResetsModule } from './resets/resets.module';
