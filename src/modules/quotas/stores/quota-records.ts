import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThanOrEqual, Repository } from 'typeorm';
import { Clock, utcDate, WriteBehind } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../../audit';
import { ClientsService } from '../../auth';
import { UsageDay } from '../quotas.entity';
import type { BanState, StoredBan } from '../rules/decision';
import { DAY_MS, type WindowState } from '../rules/limits';

const INTERVAL_MS = 1_000;

/** The windows that count against the limits, and the last reset (unix milliseconds, 0 for never). */
export interface StoredUsage {
  windows: WindowState;
  resetAt: number;
}

/** `requests` and `refunds` are to be added to those of the day. The minute is the last one in which a client was counted. */
interface DayCount extends Pick<WindowState, 'day' | 'minuteStart' | 'minuteCount' | 'minuteRefunds'> {
  clientId: number;
  requests: number;
  refunds: number;
}

interface EarnedBan extends Pick<StoredBan, 'level' | 'bannedUntil'> {
  /** Unix milliseconds. */
  earnedAt: number;
}

/** Persists counts and bans: written every second and at shutdown. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly counts = new WriteBehind<DayCount>({
    name: 'Saving counts',
    intervalMs: INTERVAL_MS,
    merge: (earlier, later) => {
      later.requests += earlier.requests;
      later.refunds += earlier.refunds;
      return later;
    },
    write: (batch) => this.writeCounts([...batch.values()]),
  });
  /** By key, oldest first: the last one is in force, but each gets an audit entry. */
  private readonly bansEarned = new WriteBehind<EarnedBan[]>({
    name: 'Saving bans',
    intervalMs: INTERVAL_MS,
    merge: (earlier, later) => [...earlier, ...later],
    write: (batch) => this.writeBans(batch),
  });

  constructor(
    @InjectRepository(UsageDay) private readonly usage: Repository<UsageDay>,
    private readonly clients: ClientsService,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * @param windows as they are now
   * @param requests negative for a refund, 0 for one of the minute alone
   */
  count(clientId: number, windows: WindowState, requests: number): void {
    const { day, minuteStart, minuteCount, minuteRefunds } = windows;
    const refunds = requests < 0 ? 1 : 0;
    const count = { clientId, day, requests, refunds, minuteStart, minuteCount, minuteRefunds };
    this.counts.add(`${clientId}/${day}`, count);
  }

  /**
   * Written immediately, for the other instances; retried every second.
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

  /** The day and the minute of a client, minus resets. Writes pending counts first. */
  async usageOf(clientId: number): Promise<StoredUsage> {
    await this.counts.flush();
    const now = this.clock.now();
    const day = utcDate(now);
    const [used, reset] = await Promise.all([
      // The minute may have started on the day before.
      this.usage.findOne({ where: { clientId, day: LessThanOrEqual(day) }, order: { day: 'DESC' } }),
      this.clients.lastReset(clientId),
    ]);
    const resetAt = reset.resetAt?.getTime() ?? 0;
    const counted = used?.day === day ? used.requests : 0;
    const forgiven = utcDate(resetAt) === day ? reset.resetRequests : 0;
    // A reset ends the minute.
    const minute = (used?.minuteStart?.getTime() ?? 0) > resetAt ? used : null;
    return {
      windows: {
        minuteStart: minute?.minuteStart?.getTime() ?? 0,
        minuteCount: minute?.minuteRequests ?? 0,
        minuteRefunds: minute?.minuteRefunds ?? 0,
        day: Math.floor(now / DAY_MS),
        dayCount: Math.max(0, counted - forgiven),
        dayRefunds: used?.day === day ? used.refunds : 0,
      },
      resetAt,
    };
  }

  /** Writes what is pending. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all([this.counts.flush(), this.bansEarned.flush()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.bansEarned.close()]);
  }

  private async writeCounts(counts: DayCount[]): Promise<void> {
    // SQL, because TypeORM cannot add to what is stored.
    await this.usage.query(
      // Skips clients that are missing after a failover: one of them would make the batch fail repeatedly. OFFSET 0, so that they
      // are looked up one by one: for the order, PostgreSQL would walk all clients.
      // Of minutes that several instances have seen, the latest is kept, and the later state of it: each request and each
      // refund adds one to requests + 2 * refunds. With Redis, each answer tells the start of the same minute a little differently.
      // In the order of ids, so that instances that count for the same clients wait for each other without a deadlock.
      `INSERT INTO usage_days (client_id, day, requests, refunds, minute_start, minute_requests, minute_refunds)
       SELECT "clientId", DATE '1970-01-01' + day, requests, refunds, to_timestamp("minuteStart" / 1000.0),
         "minuteCount", "minuteRefunds"
       FROM jsonb_to_recordset($1) AS counted ("clientId" bigint, day int, requests bigint, refunds bigint,
         "minuteStart" bigint, "minuteCount" int, "minuteRefunds" int)
       CROSS JOIN LATERAL (SELECT FROM clients WHERE clients.id = "clientId" OFFSET 0) AS known
       ORDER BY "clientId", day
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests,
         refunds = usage_days.refunds + excluded.refunds,
         (minute_start, minute_requests, minute_refunds) = (
           SELECT * FROM (VALUES (usage_days.minute_start, usage_days.minute_requests, usage_days.minute_refunds),
             (excluded.minute_start, excluded.minute_requests, excluded.minute_refunds)) AS seen (start, requests, refunds)
           ORDER BY start < greatest(usage_days.minute_start, excluded.minute_start) - interval '1 second',
             requests + 2 * refunds DESC LIMIT 1)`,
      [JSON.stringify(counts)],
    );
  }

  private async writeBans(batch: Map<string, EarnedBan[]>): Promise<void> {
    const latest = [...batch].map(([keyId, bans]) => ({ keyId, ...bans.at(-1)!, byOperator: false }));
    await this.database.transaction(async (transaction) => {
      for (const keyId of await saveBans(transaction, latest)) {
        const actor = { kind: 'key', name: String(keyId) } as const;
        for (const { level, bannedUntil, earnedAt } of batch.get(String(keyId))!) {
          const details = { level, bannedUntil: new Date(bannedUntil).toISOString() };
          const entry = { action: 'key.banned', keyId, details } as const;
          await this.trail.record(transaction, entry, { actor, at: earnedAt });
        }
      }
    });
  }
}

/** A key's ban, to be saved. */
type UnsavedBan = Omit<StoredBan, 'changedAt'> & { keyId: number | string };

/**
 * Saves bans, each with a later stamp than the key's ban before.
 * @returns ids of the keys; those that have been deleted are missing
 */
export async function saveBans(transaction: Transaction, bans: readonly UnsavedBan[]): Promise<number[]> {
  // Rows are locked in the order of ids, so that instances with the same clients wait for each other without a deadlock.
  const saved = await transaction.query<[{ id: number }[], number]>(
    `WITH locked AS (SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
     UPDATE api_keys SET ban_level = level, banned_until = to_timestamp("bannedUntil" / 1000.0),
       banned_by_operator = "byOperator",
       ban_changed_at = greatest(clock_timestamp(), ban_changed_at + interval '1 microsecond')
     FROM locked JOIN jsonb_to_recordset($2) AS banned ("keyId" bigint, level int, "bannedUntil" bigint, "byOperator" boolean)
       ON "keyId" = locked.id
     WHERE api_keys.id = locked.id RETURNING api_keys.id`,
    [bans.map(({ keyId }) => keyId), JSON.stringify(bans)],
  );
  return saved[0].map(({ id }) => id);
}
