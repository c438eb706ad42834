import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Injectable } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Database, ReadOnlyDatabaseError, migrationStates } from '#libs/database';
import { IgnoresQuery, OperatorActionNeededError } from '#libs/http';
import { Access } from '../modules/auth';
import { QuotaCounters } from '../modules/quotas';

/**
 * Timeout of the database. It is shorter than the timeout of a metric, so that the metric `petstore_ready` is 0 instead
 * of missing if the database does not respond.
 */
const DATABASE_TIMEOUT_MS = 1_250;
const LATE = `database (no answer in ${DATABASE_TIMEOUT_MS} ms)`;
/** How long a result is reused, in milliseconds. Anybody may call the check, which must not keep the database busy. */
const READY_MS = 500;

const UP = { status: 'up' } as const;

/** Checks whether the service should receive requests, for example whether the database is writable. */
@Injectable()
export class Readiness {
  private isStopping = false;
  /** The latest check, whose result is reused for READY_MS. */
  private check = Promise.resolve<string | undefined>(undefined);
  private checkedAt = -Infinity;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  announceStop(): void {
    this.isStopping = true;
  }

  /** Returns why the service should not receive requests, or undefined if it should. Never rejects. */
  async reason(): Promise<string | undefined> {
    if (this.isStopping) {
      return 'the service is stopping';
    }
    if (performance.now() - this.checkedAt > READY_MS) {
      this.checkedAt = performance.now();
      this.check = Promise.race([this.failure(), pause(DATABASE_TIMEOUT_MS, LATE, { ref: false })]);
    }
    return this.check;
  }

  private async failure(): Promise<string | undefined> {
    try {
      await this.database.assertWritable();
      const states = await migrationStates(this.dataSource);
      const pending = states.filter(({ state }) => state === 'pending').map(({ migration }) => migration);
      return pending.length === 0 ? undefined : `migrations (pending: ${pending.join(', ')})`;
    } catch (error) {
      return error instanceof ReadOnlyDatabaseError
        ? 'database (it is read-only)'
        : 'database (it does not answer)';
    }
  }
}

@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly quotas: QuotaCounters,
  ) {}

  @Get('live')
  @IgnoresQuery()
  @Access('public')
  @SkipThrottle()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Returns 200 even if Redis is unavailable, because the service works without Redis, too. */
  @Get('ready')
  @IgnoresQuery()
  @Access('public')
  @SkipThrottle()
  async ready(): Promise<object> {
    const reason = await this.readiness.reason();
    if (reason !== undefined) {
      throw new OperatorActionNeededError(`Not ready: ${reason}.`);
    }
    const limits = { ...UP, degraded: this.quotas.countsAlone };
    return { status: 'ok', details: { database: UP, migrations: UP, limits } };
  }
}
