import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/database';
import { DeprecatedCalls } from './deprecated-calls';
import { SunsetGuard } from './sunset.guard';

/** Including today. */
const KEPT_DAYS = 90;

/** Deprecated operations: who calls them, and their sunset. */
@Module({
  imports: [RetentionModule.keep({ table: 'deprecated_calls', dayColumn: 'day', days: KEPT_DAYS })],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [SunsetGuard],
})
export class DeprecationsModule {}
