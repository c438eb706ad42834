import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThanOrEqual, Repository } from 'typeorm';
import { WriteBehind } from '#libs/background';
import { Clock, utcDate } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../../audit';
import type { StoredBan } from '../../auth';
import { newWindows, startOfDay, type Window, type Windows } from '../rules/limits';
import { StoreIdentity } from '../store-identity.entity';
import { UsageDay } from '../usage-day.entity';

const INTERVAL_MS = 1_000;

/** The changes of a client's counts on one day that are not saved yet. */
interface Counted {
  clientId: number;
  day: number;
  /**
   * Number to add to the saved number of requests. The number counts the requests that were counted since the last
   * save, minus the requests that were refunded since then. Negative if more requests were refunded than counted,
   * because requests that were counted before the last save can still be refunded.
   */
  requests: number;
  /** Number to add to the saved number of refunded requests. */
  refunds: number;
  /** The latest count of the minute, which replaces the saved count. */
  minute: Window;
}

interface EarnedBan extends Pick<StoredBan, 'level' | 'bannedUntil'> {
  keyId: number;
  earnedAt: number;
}

/** Saves counts and bans in the database: counts every second and at shutdown, a ban as soon as the key is banned. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly counts = new WriteBehind<Counted>({
    name: 'Saving counts',
    intervalMs: INTERVAL_MS,
    merge: (earlier, later) => {
      later.requests += earlier.requests;
      later.refunds += earlier.refunds;
      return later;
    },
    write: (batch) => this.writeCounts([...batch.values()]),
  });
  private readonly bansEarned = new WriteBehind<EarnedBan>({
    name: 'Saving bans',
    intervalMs: INTERVAL_MS,
    merge: (earlier) => earlier,
    write: (batch) => this.writeBans([...batch.values()]),
  });

  constructor(
    @InjectRepository(UsageDay) private readonly usage: Repository<UsageDay>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  async storeId(): Promise<string> {
    const [row] = await this.usage.manager.find(StoreIdentity);
    return row!.id;
  }

  /**
   * Notes a change of a client's counts, which the next save writes to the database.
   * @param requests the number to add to the count of today: 1 for a counted request, -1 for a refunded request, and 0 if
   * the count of today stays the same. It stays the same if a request of yesterday is refunded today: only the count of
   * the minute changes, and the count of yesterday keeps the request
   */
  count(clientId: number, { minute }: Windows, requests: number): void {
    const day = startOfDay(this.clock.now());
    const refunds = requests < 0 ? 1 : 0;
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests, refunds, minute });
  }

  /** Saves a ban immediately, so that the other instances ban the key, too. A failed write is repeated every second. */
  saveBan(keyId: number, { level, bannedUntil }: Readonly<StoredBan>, earnedAt: number): void {
    this.bansEarned.add(`${keyId}/${earnedAt}`, { keyId, level, bannedUntil, earnedAt });
    this.bansEarned.flushSoon();
  }

  /** Saves pending counts. Then returns a client's counts from the database, without the requests before `resetAt`. */
  async windowsOf({ clientId, resetAt }: { clientId: number; resetAt: number }): Promise<Windows> {
    await this.counts.flush();
    const now = this.clock.now();
    const today = utcDate(now);
    const windows = newWindows();
    // If today has no row yet, read the row of the last day with requests, because this row has the counts of a minute
    // that began before midnight.
    const used = await this.usage.findOne({
      where: { clientId, day: LessThanOrEqual(today) },
      order: { day: 'DESC' },
    });
    if (used?.day === today) {
      const count = Math.max(0, used.requests - used.forgiven);
      windows.day = { start: startOfDay(now), count, refunds: used.refunds };
    }
    const start = used?.minuteStart?.getTime() ?? 0;
    if (start > resetAt) {
      windows.minute = { start, count: used!.minuteRequests, refunds: used!.minuteRefunds };
    }
    return windows;
  }

  /**
   * Starts to save pending counts now instead of at the next interval, because other instances read the counts from the
   * database while Redis is unavailable.
   */
  flushSoon(): void {
    this.counts.flushSoon();
  }

  async flush(): Promise<void> {
    await Promise.all([this.counts.flush(), this.bansEarned.flush()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.bansEarned.close()]);
  }

  private async writeCounts(counts: Counted[]): Promise<void> {
    await this.database.query({
      // Rows are written in the order of client ids, so that instances cannot deadlock.
      text: `INSERT INTO usage_days (client_id, day, requests, refunds, minute_start, minute_requests, minute_refunds)
       SELECT "clientId", day, requests, counted.refunds, to_timestamp(start / 1000.0), count, in_minute.refunds
       FROM jsonb_to_recordset($1) AS counted ("clientId" bigint, day date, requests bigint, refunds bigint, minute jsonb)
       CROSS JOIN jsonb_to_record(minute) AS in_minute (start bigint, count int, refunds int)
       ORDER BY "clientId", day
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests,
         refunds = usage_days.refunds + excluded.refunds,
         (minute_start, minute_requests, minute_refunds) = (
           -- Instances save the count of the same minute in any order, and with starts that differ by the duration of a
           -- call to Redis. Keep the count with more requests, including refunded requests, because this count is
           -- newer.
           SELECT start, count, refunded FROM (VALUES
             (usage_days.minute_start, usage_days.minute_requests, usage_days.minute_refunds),
             (excluded.minute_start, excluded.minute_requests, excluded.minute_refunds)) AS minute (start, count, refunded)
           ORDER BY start > greatest(usage_days.minute_start, excluded.minute_start) - interval '30 seconds' DESC NULLS LAST,
             count + refunded DESC, refunded DESC LIMIT 1)`,
      values: [JSON.stringify(counts.map((counted) => ({ ...counted, day: utcDate(counted.day) })))],
    });
  }

  private async writeBans(bans: EarnedBan[]): Promise<void> {
    // Write in the order of key ids, so that instances cannot deadlock.
    bans.sort((one, other) => one.keyId - other.keyId || one.earnedAt - other.earnedAt);
    await this.database.transaction(async (transaction) => {
      for (const { keyId, level, bannedUntil, earnedAt } of bans) {
        await writeBan(transaction, keyId, { level, bannedUntil, byOperator: false });
        const details = { level, bannedUntil: new Date(bannedUntil).toISOString() };
        const actor = { kind: 'key', name: String(keyId) } as const;
        const entry = { action: 'key.banned', keyId, details } as const;
        await this.trail.record(transaction, entry, { actor, at: earnedAt });
      }
    });
  }
}

/**
 * Saves a ban of a key. Each ban gets a later `ban_changed_at` than the ban before, so that instances of the service that
 * compare two bans of the key take the newer one.
 */
export async function writeBan(
  transaction: Transaction,
  keyId: number,
  { level, bannedUntil, byOperator }: Omit<StoredBan, 'changedAt'>,
): Promise<void> {
  await transaction.query(
    `UPDATE api_keys SET ban_level = $2, banned_until = $3, banned_by_operator = $4,
       ban_changed_at = greatest(clock_timestamp(), ban_changed_at + interval '1 millisecond')
     WHERE id = $1`,
    [keyId, level, new Date(bannedUntil).toISOString(), byOperator],
  );
}
