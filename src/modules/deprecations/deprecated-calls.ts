import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { WriteBehind } from '#libs/database';
import { DeprecatedCall } from './deprecated-call.entity';

const INTERVAL_MS = 5_000;

interface Calls {
  keyId: number;
  operation: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  calls: number;
  /** Unix milliseconds. */
  lastCallAt: number;
}

/** Counts calls of deprecated operations by key, operation and UTC day; writes in batches. */
@Injectable()
export class DeprecatedCalls implements OnApplicationShutdown {
  private readonly logger = new Logger(DeprecatedCalls.name);
  private readonly calls: WriteBehind<Calls>;

  constructor(
    @InjectRepository(DeprecatedCall) private readonly recorded: Repository<DeprecatedCall>,
    private readonly clock: Clock,
  ) {
    this.calls = new WriteBehind<Calls>({
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => ({ ...later, calls: earlier.calls + later.calls }),
      write: (batch) => this.write([...batch.values()]),
      onError: (error) =>
        this.logger.warn(`Calls of deprecated operations could not be saved; will retry: ${String(error)}`),
    });
  }

  record(keyId: number, operation: string): void {
    const lastCallAt = this.clock.now();
    const day = Math.floor(lastCallAt / DAY_MS);
    this.calls.add(`${keyId} ${day} ${operation}`, { keyId, operation, day, calls: 1, lastCallAt });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.calls.close();
  }

  private async write(batch: Calls[]): Promise<void> {
    await this.recorded.query(
      // SQL, because TypeORM cannot add to what is stored.
      // Skips keys that have been deleted: one of them would make the batch fail repeatedly.
      `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at)
       SELECT called.* FROM unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[], $5::timestamptz[])
         AS called (key_id, operation, day, calls, last_call_at)
       WHERE EXISTS (SELECT FROM api_keys WHERE api_keys.id = called.key_id)
       ON CONFLICT (key_id, operation, day) DO UPDATE SET calls = deprecated_calls.calls + excluded.calls,
         last_call_at = greatest(deprecated_calls.last_call_at, excluded.last_call_at)`,
      [
        batch.map(({ keyId }) => keyId),
        batch.map(({ operation }) => operation),
        batch.map(({ day }) => utcDate(day * DAY_MS)),
        batch.map(({ calls }) => calls),
        batch.map(({ lastCallAt }) => new Date(lastCallAt).toISOString()),
      ],
    );
  }
}
