import { Global, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { CommandExecutor } from './command-executor';
import { deleteExpired } from './idempotency-records';

const CLEAN_UP_MS = 10 * 60_000;

/** The way in for everything that changes the store. */
@Global()
@Module({ providers: [CommandExecutor], exports: [CommandExecutor] })
export class CommandsModule implements OnModuleInit, OnModuleDestroy {
  private timer?: NodeJS.Timeout;

  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    // An expired answer is never replayed, so a turn missed while the database is away does no harm.
    this.timer = setInterval(
      () => void deleteExpired(this.database).catch(() => undefined),
      CLEAN_UP_MS,
    ).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
