import {
  type DynamicModule,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Clock, DAY_MS, RepeatingTask, utcDate } from '#libs/clock';
import { Database } from './database';

export interface RetentionOptions {
  table: string;
  /** An SQL condition that is true for rows to delete at this unix time in milliseconds. */
  expired: (now: number) => string;
  /** Maximum rows per DELETE statement, so that no lock is held for long. Default: 5,000. */
  batch?: number;
  /** Milliseconds from the start to the first run (default: half a minute), and between runs (default: an hour). */
  firstMs?: number;
  everyMs?: number;
}

/**
 * @param dayColumn a column or an expression of type `date`: the row's UTC day. Rows where it is null are kept.
 * @param days how many are kept, including today
 */
export function olderThan(days: number, dayColumn = 'day'): RetentionOptions['expired'] {
  return (now) => `${dayColumn} < '${utcDate(now - (days - 1) * DAY_MS)}'`;
}

const BATCH = 5_000;
const FIRST_MS = 30_000;
const EVERY_MS = 3_600_000;

/**
 * Deletes expired rows: some time after the start, then periodically. Any number of instances may do so at once; each
 * skips rows that another is deleting. A failed run is logged, and the next one catches up.
 */
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Retention.name);
  private readonly task: RepeatingTask;
  private isStopped = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    readonly options: RetentionOptions,
  ) {
    const { table, firstMs = FIRST_MS, everyMs = EVERY_MS } = options;
    this.task = new RepeatingTask({
      name: `Deleting expired rows of ${table}`,
      work: () => this.deleteOld(),
      firstMs,
      everyMs,
      clock,
    });
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  /** Waits for the current batch and starts no other. */
  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.task.stop();
  }

  /** Deletes all expired rows in batches. @returns how many there were */
  async deleteOld(): Promise<number> {
    const { table, batch = BATCH } = this.options;
    const expired = this.options.expired(this.clock.now());
    // An array, because a join would read the whole table for every batch.
    const text = `WITH deleted AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE ${expired} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*)::int AS count FROM deleted`;
    let total = 0;
    for (let deleted = batch; deleted === batch && !this.isStopped; total += deleted) {
      const [row] = await this.database.run<{ count: number }>({ text, isUnprepared: true }, [batch]);
      deleted = row!.count;
    }
    if (total > 0) {
      this.logger.log(`Deleted ${total} expired rows of ${table}.`);
    }
    return total;
  }
}

@Module({})
export class RetentionModule {
  /** For the module that owns the table. */
  static keep(options: RetentionOptions): DynamicModule {
    return {
      module: RetentionModule,
      providers: [
        {
          provide: Retention,
          inject: [Database, Clock],
          useFactory: (database: Database, clock: Clock) => new Retention(database, clock, options),
        },
      ],
      exports: [Retention],
    };
  }
}
