import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/background';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database } from './database';

export interface ExpiredRows {
  table: string;
  /** Returns the SQL condition that selects the rows to delete. `now` is the unix time in milliseconds. */
  condition: (now: number) => string;
  /** Maximum rows per DELETE statement, so that no lock is held for long. Default: 5,000. */
  maxRows?: number;
}

/**
 * Returns the condition for rows that are older than a number of days.
 * @param days the number of UTC days whose rows are kept, including today
 * @param dayColumn an SQL column or expression of type `date`; rows with null are kept
 */
export function olderThan(days: number, dayColumn = 'day'): ExpiredRows['condition'] {
  return (now) => `${dayColumn} < '${utcDate(now - (days - 1) * DAY_MS)}'`;
}

const MAX_ROWS = 5_000;

/** Deletes expired rows every ten minutes, or every `everyMs` milliseconds. Several instances may run at once. */
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Retention');
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

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.task.stop();
  }

  async deleteExpired(): Promise<number> {
    let total = 0;
    let failure: Error | undefined;
    for (const rows of this.tables) {
      try {
        total += await this.deleteFrom(rows);
      } catch (error) {
        // Go on with the other tables, and throw the first error at the end.
        failure ??= error as Error;
      }
    }
    if (failure !== undefined) {
      throw failure;
    }
    return total;
  }

  private async deleteFrom({ table, condition, maxRows = MAX_ROWS }: ExpiredRows): Promise<number> {
    // Select the rows with an array: with a join, PostgreSQL would read the whole table for every DELETE statement.
    const text = `WITH deleted AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE ${condition(this.clock.now())} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*)::int AS count FROM deleted`;
    let total = 0;
    for (let deleted = maxRows; deleted === maxRows && !this.isStopped; total += deleted) {
      const statement = { text, values: [maxRows], isUnprepared: true };
      const [row] = await this.database.query<{ count: number }>(statement);
      deleted = row!.count;
    }
    if (total > 0) {
      this.logger.log(`Deleted ${total} expired rows of ${table}.`);
    }
    return total;
  }
}
