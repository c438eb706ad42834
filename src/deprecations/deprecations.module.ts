import { Module } from '@nestjs/common';
import { DeprecatedCalls } from './deprecated-calls';
import { SunsetGuard } from './sunset.guard';

/** What happens around the end of an operation. */
@Module({ providers: [DeprecatedCalls, SunsetGuard], exports: [SunsetGuard] })
export class DeprecationsModule {}
