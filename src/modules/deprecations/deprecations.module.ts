import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RetentionModule, olderThan } from '#libs/database';
import { DeprecatedCall, DeprecatedCalls, DeprecationReport, SunsetGuard } from './deprecated-calls';

/** The report for operators, without the recording of calls. */
@Module({
  imports: [TypeOrmModule.forFeature([DeprecatedCall])],
  providers: [DeprecationReport],
  exports: [DeprecationReport],
})
export class DeprecationReportModule {}

/** Including today. */
const KEPT_DAYS = 90;

/** Deprecated operations: who calls them, and their sunset. */
@Module({
  imports: [
    TypeOrmModule.forFeature([DeprecatedCall]),
    RetentionModule.keep({ table: 'deprecated_calls', expired: olderThan(KEPT_DAYS) }),
  ],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [SunsetGuard],
})
export class DeprecationsModule {}
