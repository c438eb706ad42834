import { Module } from '@nestjs/common';
import { DeprecationReport } from './deprecation-report';

/** The report for operators, without the recording of calls. */
@Module({ providers: [DeprecationReport], exports: [DeprecationReport] })
export class DeprecationReportModule {}
