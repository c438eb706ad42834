import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Database, WriteBehind } from '#libs/database';

const INTERVAL_MS = 5_000;

/** Records when each key was last used; writes in batches. */
@Injectable()
export class KeyUse implements OnApplicationShutdown {
  private readonly logger = new Logger(KeyUse.name);
  private readonly lastUse: WriteBehind<number>;

  constructor(private readonly database: Database) {
    this.lastUse = new WriteBehind<number>({
      intervalMs: INTERVAL_MS,
      merge: Math.max,
      write: (batch) => this.write(batch),
      onError: (error) =>
        this.logger.warn(`Last-used times of keys could not be saved; will retry: ${String(error)}`),
    });
  }

  record(keyId: number, now: number): void {
    this.lastUse.add(String(keyId), now);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }

  private async write(batch: Map<string, number>): Promise<void> {
    const times = [...batch.values()].map((now) => new Date(now).toISOString());
    await this.database.query(
      `UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
       FROM unnest($1::bigint[], $2::timestamptz[]) AS used (id, at) WHERE api_keys.id = used.id`,
      [[...batch.keys()], times],
    );
  }
}
