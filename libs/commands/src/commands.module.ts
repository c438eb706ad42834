import { Global, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { CommandExecutor } from './command-executor';
import { deleteExpired } from './idempotency-records';

const CLEAN_UP_MS = 10 * 60_000;

/** All changes of the store go through this module. */
@Global()
@Module({ providers: [CommandExecutor], exports: [CommandExecutor] })
export class CommandsModule implements OnModuleInit, OnModuleDestroy {
  private timer?: NodeJS.Timeout;

  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    // Expired answers are never replayed, so a failed clean-up does no harm.
    this.timer = setInterval(
      () => void deleteExpired(this.database).catch(() => undefined),
      CLEAN_UP_MS,
    ).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
