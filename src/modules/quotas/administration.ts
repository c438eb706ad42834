import { Module } from '@nestjs/common';
import { AdministrationModule } from '../auth';
import { LiveUsageQuery } from './instances';
import { BanRegister, QuotaResets } from './operator-changes';
import { QuotaOverview } from './reports/quota-overview';
import { UsageRanking, UsageService } from './reports/usage';
import { QuotaRecords } from './stores/quota-records';

/** Bans, resets and reports for operators, without the counting that requests need. */
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
