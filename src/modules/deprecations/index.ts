import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { olderThan } from '#libs/database';
import type { Feature } from '../../feature';
import { DeprecatedCall } from './deprecated-call.entity';
import { DeprecatedCalls } from './deprecated-calls';
import { SunsetGuard } from './sunset.guard';

export { SunsetGuard } from './sunset.guard';

const KEPT_DAYS = 90;

@Module({
  imports: [TypeOrmModule.forFeature([DeprecatedCall])],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [DeprecatedCalls, SunsetGuard],
})
class DeprecationsModule {}

export const DEPRECATIONS: Feature = {
  module: DeprecationsModule,
  expiredRows: [{ table: 'deprecated_calls', condition: olderThan(KEPT_DAYS) }],
  cliCommands: async () => [(await import('./deprecations.command.js')).DeprecationsCommand],
};
