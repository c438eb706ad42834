import { Module } from '@nestjs/common';
import { AdministrationModule } from '../../auth/administration';
import { QuotaRecords } from '../counting/quota-records';
import { StandingQuestions } from '../counting/standing-questions';
import { BanRegister } from './ban-register';
import { CounterReader } from './counter-reader';
import { QuotaOverview } from './quota-overview';
import { QuotaResets } from './quota-resets';
import { UsageService } from '../usage.service';
import { UsageRanking } from './usage-ranking';

/** Bans, resets and reports for operators, without the counting that requests need. */
@Module({
  imports: [AdministrationModule],
  providers: [
    QuotaRecords,
    BanRegister,
    QuotaResets,
    CounterReader,
    QuotaOverview,
    StandingQuestions,
    UsageRanking,
    UsageService,
  ],
  exports: [QuotaRecords, BanRegister, QuotaResets, QuotaOverview, UsageRanking, UsageService],
})
export class QuotaAdministrationModule {}
