import { Module } from '@nestjs/common';
import { QuotaResets } from './quota-resets';

/** Resets of windows for those who run the service; without the counting that requests need. */
@Module({ providers: [QuotaResets], exports: [QuotaResets] })
export class ResetsModule {}
