import { Module } from '@nestjs/common';
import { AdministrationModule } from '../../auth/administration';
import { QuotaRecords } from '../counting/quota-records';
import { CounterReader } from './counter-reader';
import { QuotaOverview } from './quota-overview';
import { UsageRanking } from './usage-ranking';

/** What those who run the service want to know of limits; without the counting that requests need. */
@Module({
  imports: [AdministrationModule],
  providers: [QuotaRecords, CounterReader, QuotaOverview, UsageRanking],
  exports: [QuotaOverview, UsageRanking],
})
export class OverviewModule {}
