import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { DeprecatedCalls } from './deprecated-calls';
import { SunsetGuard } from './sunset.guard';

/** How many days of calls are kept, today included. */
const KEPT_DAYS = 90;

/** What happens around the end of an operation. */
@Module({
  imports: [RetentionModule.keep({ table: 'deprecated_calls', dayColumn: 'day', days: KEPT_DAYS })],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [SunsetGuard],
})
export class DeprecationsModule {}
