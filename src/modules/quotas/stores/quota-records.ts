import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Check, Column, Entity, Index, LessThanOrEqual, PrimaryColumn, Repository } from 'typeorm';
import { WriteBehind } from '#libs/background';
import { Clock, utcDate } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../../audit';
import type { ClientKey } from '../../auth';
import type { BanState, StoredBan } from '../rules/decision';
import { newWindows, startOfDay, type Window, type Windows } from '../rules/limits';

export const USAGE_DAYS = 90;

/**
 * The requests of a client on one UTC day, without refunded requests. There is no foreign key to the client: a client that is
 * missing after a failover must not fail the whole batch of counts.
 */
@Entity('usage_days')
@Index('usage_days_by_day', ['day', 'clientId'])
export class UsageDay {
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  requests!: number;

  /** How many requests of the day were refunded. A day refunds at most as many requests as its limit. */
  @Column('bigint', { default: 0 })
  refunds!: number;

  /** How many requests of the day were sent before a reset. These requests no longer count against the limit. */
  @Column('bigint', { default: 0 })
  forgiven!: number;

  /** When the last minute in which requests were counted began; null after a reset. */
  @Column('timestamptz', { name: 'minute_start', nullable: true })
  minuteStart!: Date | null;

  @Column('int', { name: 'minute_requests', default: 0 })
  minuteRequests!: number;

  @Column('int', { name: 'minute_refunds', default: 0 })
  minuteRefunds!: number;
}

/** A table of one row: the pet store's identity, which is part of every key in Redis, so that stores can share one Redis. */
@Entity('store_identity')
@Check('store_identity_one_check', 'one')
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  one!: true;

  @Column('uuid')
  id!: string;
}

const INTERVAL_MS = 1_000;

/** Counts to be saved. `requests` and `refunds` are added to the saved counts of the day; `minute` replaces an older minute. */
interface Counted {
  clientId: number;
  /** The start of the UTC day in unix milliseconds, which is quicker to compute for each request than an ISO date. */
  day: number;
  requests: number;
  refunds: number;
  minute: Window;
}

interface EarnedBan extends Omit<StoredBan, 'changedAt'> {
  keyId: number;
  earnedAt: number;
}

/** Saves counts and bans in the database: counts every second and at shutdown, bans immediately. */
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

  /** Adds to the counts to save. `requests` is 1 for a request, -1 for a refund, and 0 if only the minute has changed. */
  count(clientId: number, { minute }: Windows, requests: number): void {
    const day = startOfDay(this.clock.now());
    const refunds = requests < 0 ? 1 : 0;
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests, refunds, minute });
  }

  /** Saves a ban immediately, because the other instances read bans from the database. A failed write is repeated every second. */
  saveBan(keyId: number, { level, bannedUntil }: Readonly<BanState>, earnedAt: number): void {
    const ban = { keyId, level, bannedUntil, byOperator: false, earnedAt };
    this.bansEarned.add(`${keyId}/${earnedAt}`, ban);
    this.bansEarned.flushSoon();
  }

  /** Writes pending counts, then reads a client's windows. Requests before `resetAt` (unix milliseconds) do not count. */
  async windowsOf({ clientId, resetAt }: Pick<ClientKey, 'clientId' | 'resetAt'>): Promise<Windows> {
    await this.counts.flush();
    const now = this.clock.now();
    const today = utcDate(now);
    const windows = newWindows();
    // If today has no row yet, read the last one: shortly after midnight the current minute stands in yesterday's row.
    const used = await this.usage.findOne({
      where: { clientId, day: LessThanOrEqual(today) },
      order: { day: 'DESC' },
    });
    if (used?.day === today) {
      const count = Math.max(0, used.requests - used.forgiven);
      windows.day = { start: startOfDay(now), count, refunds: used.refunds };
    }
    // A minute that started before the last reset is over.
    const start = used?.minuteStart?.getTime() ?? 0;
    if (start > resetAt) {
      windows.minute = { start, count: used!.minuteRequests, refunds: used!.minuteRefunds };
    }
    return windows;
  }

  /** Writes pending counts now: while Redis is unavailable, the other instances read counts from the database. */
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
    await this.usage.query(
      // Plain SQL, because TypeORM cannot add to stored numbers. Rows are locked in the order of client ids, so that instances
      // which count requests of the same clients cannot deadlock.
      `INSERT INTO usage_days (client_id, day, requests, refunds, minute_start, minute_requests, minute_refunds)
       SELECT "clientId", day, requests, counted.refunds, to_timestamp(start / 1000.0), count, in_minute.refunds
       FROM jsonb_to_recordset($1) AS counted ("clientId" bigint, day date, requests bigint, refunds bigint, minute jsonb)
       CROSS JOIN jsonb_to_record(minute) AS in_minute (start bigint, count int, refunds int)
       ORDER BY "clientId", day
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests,
         refunds = usage_days.refunds + excluded.refunds,
         (minute_start, minute_requests, minute_refunds) = (
           -- Instances write the same minute in any order, and with starts that differ by the time of a call: the one that has
           -- taken more requests, refunded ones included, is the newer.
           SELECT start, count, refunded FROM (VALUES
             (usage_days.minute_start, usage_days.minute_requests, usage_days.minute_refunds),
             (excluded.minute_start, excluded.minute_requests, excluded.minute_refunds)) AS minute (start, count, refunded)
           ORDER BY start > greatest(usage_days.minute_start, excluded.minute_start) - interval '30 seconds' DESC NULLS LAST,
             count + refunded DESC, refunded DESC LIMIT 1)`,
      [JSON.stringify(counts.map((counted) => ({ ...counted, day: utcDate(counted.day) })))],
    );
  }

  private async writeBans(bans: EarnedBan[]): Promise<void> {
    // Lock keys in the order of their ids, so that instances which ban the same keys cannot deadlock.
    bans.sort((one, other) => one.keyId - other.keyId || one.earnedAt - other.earnedAt);
    await this.database.transaction(async (transaction) => {
      for (const { keyId, level, bannedUntil, byOperator, earnedAt } of bans) {
        await writeBan(transaction, keyId, { level, bannedUntil, byOperator });
        const details = { level, bannedUntil: new Date(bannedUntil).toISOString() };
        const actor = { kind: 'key', name: String(keyId) } as const;
        const entry = { action: 'key.banned', keyId, details } as const;
        await this.trail.record(transaction, entry, { actor, at: earnedAt });
      }
    });
  }
}

/** Saves the ban of a key. `ban_changed_at` increases with each change, so that an older ban never replaces a newer one. */
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
