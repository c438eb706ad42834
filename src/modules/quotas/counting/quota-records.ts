import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Clock, utcDate } from '#libs/clock';
import { Database, int8ToNumber, WriteBehind } from '#libs/database';
import { AuditTrail } from '../../audit';
import { KeyBan, toStoredBan } from '../key-ban.entity';
import { QuotaReset } from '../quota-reset.entity';
import type { BanState, StoredBan } from '../rules/ban-rules';
import { DAY_MS } from '../rules/rate-window';
import { EarnedBans } from './earned-bans';
import type { CountWriter } from './unwritten-counts';

const INTERVAL_MS = 1_000;

const NEVER_BANNED: StoredBan = { level: 0, bannedUntil: 0, byOperator: false };

/** The requests that count against the day's limit, and the last reset (unix milliseconds, 0 for never). */
interface Used {
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

type KnownBan = StoredBan & { clientId: number; keyId: number };

interface DayCount {
  clientId: number;
  day: number;
  requests: number;
}

/** `YYYY-MM-DD` of a day since 1970-01-01 UTC. */
export function dateOfDay(day: number): string {
  return utcDate(day * DAY_MS);
}

/** Persists daily counts and bans: written every second and at shutdown. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly logger = new Logger(QuotaRecords.name);
  private readonly counts: WriteBehind<DayCount>;
  private readonly earned: EarnedBans;
  private readonly sources: ((write: CountWriter) => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    trail: AuditTrail,
  ) {
    const onError = (error: unknown) =>
      this.logger.warn(`Counts could not be written; will retry: ${String(error)}`);
    this.counts = new WriteBehind<DayCount>({
      intervalMs: INTERVAL_MS,
      collect: () => this.sources.forEach((passOn) => passOn((...counted) => this.count(...counted))),
      merge: (earlier, later) => ({ ...later, requests: earlier.requests + later.requests }),
      write: (batch) => this.writeCounts([...batch.values()]),
      onError,
    });
    this.earned = new EarnedBans(database, trail, onError);
  }

  /** Unix milliseconds on the clock that determines the day. */
  now(): number {
    return this.clock.now();
  }

  /** @param requests may be negative: a refunded request */
  count(clientId: number, day: number, requests: number): void {
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests });
  }

  /** Registers a source that is asked for its counts before each write. */
  countFrom(source: (write: CountWriter) => void): void {
    this.sources.push(source);
  }

  /** @param at when the key earned the ban, in unix milliseconds */
  saveBan(keyId: number, bans: BanState, at: number): void {
    this.earned.add(keyId, bans, at);
  }

  /** True while a ban of this key waits to be written. */
  hasUnsavedBan(keyId: number): boolean {
    return this.earned.has(keyId);
  }

  /**
   * The ban of one key, or all bans that are active or changed in the last four days. Older bans are over: the longest
   * lasts three days.
   */
  async bans(keyId?: number): Promise<KnownBan[]> {
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
  async usedOf(clientId: number, day: number): Promise<Used> {
    await this.counts.flush();
    const [row] = await this.database.query<{ requests: string; forgiven: string; reset_at: Date | null }>(
      `SELECT coalesce((SELECT requests FROM usage_days WHERE client_id = $1 AND day = $2), 0) AS requests,
         coalesce((SELECT requests FROM quota_resets WHERE client_id = $1 AND day = $2), 0) AS forgiven,
         (SELECT reset_at FROM quota_resets WHERE client_id = $1) AS reset_at`,
      [clientId, dateOfDay(day)],
    );
    const requests = int8ToNumber(row!.requests) - int8ToNumber(row!.forgiven);
    return { requests: Math.max(0, requests), resetAt: row!.reset_at?.getTime() ?? 0 };
  }

  /** The reset of one client, or all resets of the last day. */
  async resets(clientId?: number): Promise<{ clientId: number; resetAt: number }[]> {
    const since = new Date(this.clock.now() - DAY_MS);
    const which = clientId === undefined ? { resetAt: MoreThan(since) } : { clientId };
    const resets = await this.database.reader.findBy(QuotaReset, which);
    return resets.map((one) => ({ clientId: one.clientId, resetAt: one.resetAt.getTime() }));
  }

  async readBan(keyId: number): Promise<StoredBan | null> {
    const stored = await this.database.reader.findOneBy(KeyBan, { keyId });
    return stored && toStoredBan(stored);
  }

  /** Today's count and the key's ban from the database, for a counter that does not have them. */
  async remembered(clientId: number, keyId: number): Promise<Used & StoredBan & { day: number }> {
    const day = Math.floor(this.clock.now() / DAY_MS);
    const [used, ban] = await Promise.all([this.usedOf(clientId, day), this.readBan(keyId)]);
    return { day, ...used, ...(ban ?? NEVER_BANNED) };
  }

  /** Writes what is pending; resolves to false if not all of it could be written. Never rejects. */
  async flush(): Promise<boolean> {
    const written = await Promise.all([this.counts.flush(), this.earned.flush()]);
    return written.every(Boolean);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.earned.close()]);
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
}
