import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Database, int8ToNumber } from '#libs/database';
import { WriteBehind } from '#libs/write-behind';
import type { BanState } from '../ban-rules';
import { DAY_MS } from '../rate-window';

const INTERVAL_MS = 1_000;

interface DayCount {
  clientId: number;
  day: number;
  requests: number;
}

/** `YYYY-MM-DD` of a day since 1970-01-01 UTC. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** What of quotas outlives the process: each day's counts and the bans, written behind every second and at shutdown. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly logger = new Logger(QuotaRecords.name);
  private readonly counts: WriteBehind<DayCount>;
  private readonly bans: WriteBehind<BanState>;

  constructor(private readonly database: Database) {
    const onError = (error: unknown) => this.logger.warn(`Counts wait to be written: ${String(error)}`);
    this.counts = new WriteBehind<DayCount>({
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => ({ ...later, requests: earlier.requests + later.requests }),
      write: (batch) => this.writeCounts([...batch.values()]),
      onError,
    });
    this.bans = new WriteBehind<BanState>({
      intervalMs: INTERVAL_MS,
      merge: (_earlier, later) => later,
      write: (batch) => this.writeBans(batch),
      onError,
    });
  }

  /** True when everything is in the database. */
  get written(): boolean {
    return this.counts.idle && this.bans.idle;
  }

  /** @param requests may be negative: a request handed back */
  count(clientId: number, day: number, requests: number): void {
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests });
  }

  saveBan(keyId: number, bans: BanState): void {
    this.bans.add(String(keyId), { ...bans });
  }

  async countOf(clientId: number, day: number): Promise<number> {
    const [row] = await this.database.query<{ requests: string }>(
      `SELECT requests FROM usage_days WHERE client_id = $1 AND day = $2`,
      [clientId, dateOf(day)],
    );
    return Math.max(0, int8ToNumber(row?.requests ?? 0));
  }

  async banOf(keyId: number): Promise<Pick<BanState, 'level' | 'bannedUntil'> | null> {
    const [row] = await this.database.query<{ level: number; banned_until: Date }>(
      `SELECT level, banned_until FROM key_bans WHERE key_id = $1`,
      [keyId],
    );
    return row ? { level: row.level, bannedUntil: row.banned_until.getTime() } : null;
  }

  /** Writes what is waiting now. */
  async flush(): Promise<void> {
    await Promise.all([this.counts.flush(), this.bans.flush()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.bans.close()]);
  }

  private async writeCounts(counts: DayCount[]): Promise<void> {
    await this.database.query(
      `INSERT INTO usage_days (client_id, day, requests)
       SELECT * FROM unnest($1::bigint[], $2::date[], $3::bigint[])
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests`,
      [
        counts.map(({ clientId }) => clientId),
        counts.map(({ day }) => dateOf(day)),
        counts.map(({ requests }) => requests),
      ],
    );
  }

  private async writeBans(bans: Map<string, BanState>): Promise<void> {
    const states = [...bans.values()];
    await this.database.query(
      `INSERT INTO key_bans (key_id, level, banned_until)
       SELECT * FROM unnest($1::bigint[], $2::int[], $3::timestamptz[])
       ON CONFLICT (key_id) DO UPDATE SET level = excluded.level, banned_until = excluded.banned_until`,
      [
        [...bans.keys()],
        states.map(({ level }) => level),
        states.map(({ bannedUntil }) => new Date(bannedUntil).toISOString()),
      ],
    );
  }
}
