import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/background';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database } from './database';

/** Rows that are deleted in time. */
export interface ExpiredRows {
  table: string;
  /** An SQL condition that is true for rows to delete at this unix time in milliseconds. */
  expired: (now: number) => string;
  /** Maximum rows per DELETE statement, so that no lock is held for long. Default: 5,000. */
  batch?: number;
}

/**
 * @param dayColumn a column or an expression of type `date`: the row's UTC day. Rows where it is null are kept.
 * @param days how many are kept, including today
 */
export function olderThan(days: number, dayColumn = 'day'): ExpiredRows['expired'] {
  return (now) => `${dayColumn} < '${utcDate(now - (days - 1) * DAY_MS)}'`;
}

const BATCH = 5_000;

/**
 * Deletes expired rows, again and again. Any number of instances may do so at once; each
 * skips rows that another is deleting. A failed run is logged, and the next one catches up.
 */
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Retention.name);
  private readonly task: RepeatingTask;
  private isStopped = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly tables: readonly ExpiredRows[],
    everyMs = 600_000,
  ) {
    const work = () => this.deleteExpired();
    this.task = new RepeatingTask({ name: 'Deleting expired rows', work, everyMs });
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  /** Waits for the current batch and starts no other. */
  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.task.stop();
  }

  /** @returns how many rows were deleted, of all tables or of this one */
  async deleteExpired(only?: string): Promise<number> {
    const tables = this.tables.filter(({ table }) => only === undefined || table === only);
    let total = 0;
    let failure: Error | undefined;
    for (const rows of tables) {
      try {
        total += await this.deleteFrom(rows);
      } catch (error) {
        // One that fails leaves no other as it is.
        failure ??= error as Error;
      }
    }
    if (failure !== undefined) {
      throw failure;
    }
    return total;
  }

  private async deleteFrom({ table, expired, batch = BATCH }: ExpiredRows): Promise<number> {
    // An array, because a join would read the whole table for every batch.
    const text = `WITH deleted AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE ${expired(this.clock.now())} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*)::int AS count FROM deleted`;
    let total = 0;
    for (let deleted = batch; deleted === batch && !this.isStopped; total += deleted) {
      const [row] = await this.database.query<{ count: number }>({ text, isUnprepared: true }, [batch]);
      deleted = row!.count;
    }
    if (total > 0) {
      this.logger.log(`Deleted ${total} expired rows of ${table}.`);
    }
    return total;
  }
}
