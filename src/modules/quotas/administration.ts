// For operators: plans, bans, usage and resets, without the counting that requests need.
import { Module } from '@nestjs/common';
import { AdministrationModule } from '../auth/administration';
import { LiveUsageQuery } from './instances';
import { BanRegister, QuotaResets } from './operator-changes';
import { QuotaOverview } from './reports/quota-overview';
import { UsageRanking, UsageService } from './reports/usage';
import { QuotaRecords } from './stores/quota-records';

export { BanRegister, QuotaResets } from './operator-changes';
export { QuotaOverview, type ClientOverview } from './reports/quota-overview';
export { UsageRanking, UsageService } from './reports/usage';
export { InvalidPlanError, PLANS, agreedPlan, limitsOf, type Plan } from './rules/plans';

@Module({
  imports: [AdministrationModule],
  providers: [
    QuotaRecords,
    BanRegister,
    QuotaResets,
    QuotaOverview,
    LiveUsageQuery,
    UsageRanking,
    UsageService,
  ],
  exports: [QuotaRecords, BanRegister, QuotaResets, QuotaOverview, UsageRanking, UsageService],
})
export class QuotaAdministrationModule {}
