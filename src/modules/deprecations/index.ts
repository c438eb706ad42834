import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { olderThan } from '#libs/database';
import type { Feature } from '../../feature';
import { DeprecatedCall, DeprecatedCalls, SunsetGuard } from './deprecated-calls';

export { SunsetGuard } from './deprecated-calls';

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
