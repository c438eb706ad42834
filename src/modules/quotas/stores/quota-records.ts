import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Clock, utcDate } from '#libs/clock';
import { Database, type Transaction, int8ToNumber, WriteBehind } from '#libs/database';
import { AuditTrail } from '../../audit';
import { KeyBan, QuotaReset, toStoredBan } from '../quotas.entity';
import type { BanState, StoredBan } from '../rules/ban-rules';
import { DAY_MS } from '../rules/rate-window';

const INTERVAL_MS = 1_000;

const NEVER_BANNED: StoredBan = { level: 0, bannedUntil: 0, byOperator: false };

/** The requests that count against the day's limit, and the last reset (unix milliseconds, 0 for never). */
export interface StoredUsage {
  /** Days since 1970-01-01 UTC. */
  day: number;
  requests: number;
  resetAt: number;
}

interface BanRow {
  client_id: string;
  key_id: string;
  level: number;
  banned_until: Date;
  by_operator: boolean;
}

interface DayCount {
  clientId: number;
  day: number;
  requests: number;
}

interface EarnedBan {
  level: number;
  /** Unix milliseconds, as `earnedAt` is. */
  bannedUntil: number;
  earnedAt: number;
}

/** `YYYY-MM-DD` of a day since 1970-01-01 UTC. */
export function dateOfDay(day: number): string {
  return utcDate(day * DAY_MS);
}

/** Persists daily counts and bans: written every second and at shutdown. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly logger = new Logger(QuotaRecords.name);
  /** By client, because this is added to with every request; passed on when it is written. */
  private readonly counting = new Map<number, DayCount>();
  private readonly counts: WriteBehind<DayCount>;
  /** By key, oldest first: the last one is in force, but each gets an audit entry. */
  private readonly bansEarned: WriteBehind<EarnedBan[]>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {
    const onError = (error: unknown) =>
      this.logger.warn(`Counts could not be written; will retry: ${String(error)}`);
    this.counts = new WriteBehind<DayCount>({
      intervalMs: INTERVAL_MS,
      collect: () => this.collect(),
      merge: (earlier, later) => ({ ...later, requests: earlier.requests + later.requests }),
      write: (batch) => this.writeCounts([...batch.values()]),
      onError,
    });
    this.bansEarned = new WriteBehind<EarnedBan[]>({
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => [...earlier, ...later],
      write: (batch) => this.writeBans(batch),
      onError,
    });
  }

  /** Unix milliseconds on the clock that determines the day. */
  now(): number {
    return this.clock.now();
  }

  /** @param requests may be negative: a refunded request */
  count(clientId: number, day: number, requests: number): void {
    const counted = this.counting.get(clientId);
    if (counted?.day === day) {
      counted.requests += requests;
      return;
    }
    if (counted !== undefined) {
      this.passOn(counted);
    }
    this.counting.set(clientId, { clientId, day, requests });
  }

  /**
   * Written immediately, because this notifies the other instances; retried every second.
   * @param earnedAt unix milliseconds
   */
  saveBan(keyId: number, { level, bannedUntil }: BanState, earnedAt: number): void {
    this.bansEarned.add(String(keyId), [{ level, bannedUntil, earnedAt }]);
    void this.bansEarned.flush();
  }

  /** True while a ban of this key waits to be written. */
  hasUnsavedBan(keyId: number): boolean {
    return this.bansEarned.has(String(keyId));
  }

  /**
   * The ban of one key, or all bans that are active or changed in the last four days. Older bans are over: the longest
   * lasts three days.
   */
  async bans(keyId?: number): Promise<(StoredBan & { clientId: number; keyId: number })[]> {
    const rows = await this.database.query<BanRow>(
      `SELECT api_keys.client_id, key_id, level, banned_until, by_operator FROM key_bans JOIN api_keys ON api_keys.id = key_id
       WHERE key_id = $1 OR ($1 IS NULL AND (banned_until > now() OR changed_at > now() - interval '4 days'))`,
      [keyId ?? null],
    );
    return rows.map((row) => ({
      clientId: int8ToNumber(row.client_id),
      keyId: int8ToNumber(row.key_id),
      level: row.level,
      bannedUntil: row.banned_until.getTime(),
      byOperator: row.by_operator,
    }));
  }

  /** Ids of all clients with usage on that day. */
  async clientsOf(day: number): Promise<number[]> {
    const rows = await this.database.query<{ client_id: string }>(
      `SELECT client_id FROM usage_days WHERE day = $1`,
      [dateOfDay(day)],
    );
    return rows.map((row) => int8ToNumber(row.client_id));
  }

  /** The day's count in the database, minus resets. Writes pending counts first. */
  async usageOf(clientId: number, day: number): Promise<StoredUsage> {
    await this.counts.flush();
    const [row] = await this.database.query<{ requests: string; forgiven: string; reset_at: Date | null }>(
      `SELECT coalesce((SELECT requests FROM usage_days WHERE client_id = $1 AND day = $2), 0) AS requests,
         coalesce((SELECT requests FROM quota_resets WHERE client_id = $1 AND day = $2), 0) AS forgiven,
         (SELECT reset_at FROM quota_resets WHERE client_id = $1) AS reset_at`,
      [clientId, dateOfDay(day)],
    );
    const requests = int8ToNumber(row!.requests) - int8ToNumber(row!.forgiven);
    return { day, requests: Math.max(0, requests), resetAt: row!.reset_at?.getTime() ?? 0 };
  }

  /** The reset of one client, or all resets of the last day. */
  async resets(clientId?: number): Promise<{ clientId: number; resetAt: number }[]> {
    const since = new Date(this.clock.now() - DAY_MS);
    const which = clientId === undefined ? { resetAt: MoreThan(since) } : { clientId };
    const resets = await this.database.reader.findBy(QuotaReset, which);
    return resets.map((one) => ({ clientId: one.clientId, resetAt: one.resetAt.getTime() }));
  }

  /** Today's count and the key's ban, for a counter that does not have them. */
  async read(clientId: number, keyId: number): Promise<StoredUsage & { ban: StoredBan }> {
    const day = Math.floor(this.clock.now() / DAY_MS);
    const [usage, stored] = await Promise.all([
      this.usageOf(clientId, day),
      this.database.reader.findOneBy(KeyBan, { keyId }),
    ]);
    return { ...usage, ban: stored ? toStoredBan(stored) : NEVER_BANNED };
  }

  /** Writes what is pending; resolves to false if not all of it could be written. Never rejects. */
  async flush(): Promise<boolean> {
    const written = await Promise.all([this.counts.flush(), this.bansEarned.flush()]);
    return written.every(Boolean);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.bansEarned.close()]);
  }

  private collect(): void {
    this.counting.forEach((counted) => this.passOn(counted));
    this.counting.clear();
  }

  private passOn(counted: DayCount): void {
    this.counts.add(`${counted.clientId}/${counted.day}`, counted);
  }

  private async writeCounts(counts: DayCount[]): Promise<void> {
    await this.database.query(
      // Skips clients that have been deleted: one of them would make the batch fail repeatedly.
      `INSERT INTO usage_days (client_id, day, requests)
       SELECT counted.client_id, DATE '1970-01-01' + counted.day, counted.requests
       FROM unnest($1::bigint[], $2::int[], $3::bigint[]) AS counted (client_id, day, requests)
       WHERE EXISTS (SELECT FROM clients WHERE clients.id = counted.client_id)
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests`,
      [
        counts.map(({ clientId }) => clientId),
        counts.map(({ day }) => day),
        counts.map(({ requests }) => requests),
      ],
    );
  }

  private async writeBans(batch: Map<string, EarnedBan[]>): Promise<void> {
    const latest = [...batch.values()].map((bans) => bans.at(-1)!);
    await this.database.transaction(async (transaction) => {
      const written = await transaction.query<{ key_id: string }[]>(
        // Skips keys that have been deleted: one of them would make the batch fail repeatedly.
        `INSERT INTO key_bans (key_id, level, banned_until, by_operator)
         SELECT banned.*, false FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS banned (key_id, level, banned_until)
         WHERE EXISTS (SELECT FROM api_keys WHERE api_keys.id = banned.key_id)
         ON CONFLICT (key_id) DO UPDATE
         SET level = excluded.level, banned_until = excluded.banned_until, by_operator = excluded.by_operator
         RETURNING key_id`,
        [
          [...batch.keys()],
          latest.map(({ level }) => level),
          latest.map(({ bannedUntil }) => new Date(bannedUntil).toISOString()),
        ],
      );
      for (const { key_id: keyId } of written) {
        await this.recordBans(transaction, keyId, batch.get(keyId)!);
      }
    });
  }

  private async recordBans(transaction: Transaction, keyId: string, bans: EarnedBan[]): Promise<void> {
    const actor = { kind: 'key', name: keyId } as const;
    for (const { level, bannedUntil, earnedAt } of bans) {
      const details = { level, bannedUntil: new Date(bannedUntil).toISOString() };
      const entry = { action: 'key.banned', keyId: Number(keyId), details } as const;
      await this.trail.record(transaction, entry, { actor, at: earnedAt });
    }
  }
}
