import { Global, Module } from '@nestjs/common';
import { RetentionModule } from '../retention';
import { CommandExecutor } from './command-executor';
import { EXPIRED } from './idempotency-records';

/** All changes of the store go through this module. */
@Global()
@Module({
  imports: [RetentionModule.keep({ table: 'idempotency_records', expired: EXPIRED, everyMs: 600_000 })],
  providers: [CommandExecutor],
  exports: [CommandExecutor],
})
export class CommandsModule {}
