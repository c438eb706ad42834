import { Module } from '@nestjs/common';
import { DeprecationReport } from './deprecation-report';

/** The report for those who run the service; without the noting of calls that requests need. */
@Module({ providers: [DeprecationReport], exports: [DeprecationReport] })
export class DeprecationReportModule {}
