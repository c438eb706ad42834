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

/** Days of usage that are kept, including today. */
export const USAGE_DAYS = 90;

/** The requests of a client on one UTC day, minus refunds. No foreign key: one that is missing after a failover is no failure. */
@Entity('usage_days')
@Index('usage_days_by_day', ['day', 'clientId'])
export class UsageDay {
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  requests!: number;

  /** How many requests were refunded: a day refunds at most as many as its limit. */
  @Column('bigint', { default: 0 })
  refunds!: number;

  /** Requests before a reset, which no longer count against the limit. */
  @Column('bigint', { default: 0 })
  forgiven!: number;

  /** The last minute of the day in which the client was counted. */
  @Column('timestamptz', { name: 'minute_start', nullable: true })
  minuteStart!: Date | null;

  @Column('int', { name: 'minute_requests', default: 0 })
  minuteRequests!: number;

  @Column('int', { name: 'minute_refunds', default: 0 })
  minuteRefunds!: number;
}

/** The only row has the identity by which stores that use the same Redis keep their counts apart. */
@Entity('store_identity')
@Check('store_identity_one_check', 'one')
export class StoreIdentity {
  @PrimaryColumn('boolean', { default: true })
  one!: true;

  @Column('uuid')
  id!: string;
}

const INTERVAL_MS = 1_000;

/** `requests` and `refunds` are to be added to those of the day. The minute is the last one in which a client was counted. */
interface Counted {
  clientId: number;
  /** Its start in unix milliseconds, because that is quicker for each request than its name. */
  day: number;
  requests: number;
  refunds: number;
  minute: Window;
}

interface EarnedBan extends Omit<StoredBan, 'changedAt'> {
  keyId: number;
  /** Unix milliseconds. */
  earnedAt: number;
}

/** Persists counts and bans: written every second and at shutdown. */
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

  /** The identity of the store. */
  async storeId(): Promise<string> {
    const [row] = await this.usage.manager.find(StoreIdentity);
    return row!.id;
  }

  /**
   * @param windows as they are now
   * @param requests negative for a refund, 0 for one of the minute alone
   */
  count(clientId: number, { minute }: Windows, requests: number): void {
    const day = startOfDay(this.clock.now());
    const refunds = requests < 0 ? 1 : 0;
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests, refunds, minute });
  }

  /**
   * Written immediately, for the other instances; retried every second.
   * @param earnedAt unix milliseconds
   */
  saveBan(keyId: number, { level, bannedUntil }: Readonly<BanState>, earnedAt: number): void {
    const ban = { keyId, level, bannedUntil, byOperator: false, earnedAt };
    this.bansEarned.add(`${keyId}/${earnedAt}`, ban);
    this.bansEarned.flushSoon();
  }

  /** The windows of a client since the last reset (unix milliseconds, 0 for never). Writes pending counts first. */
  async windowsOf({ clientId, resetAt }: Pick<ClientKey, 'clientId' | 'resetAt'>): Promise<Windows> {
    await this.counts.flush();
    const now = this.clock.now();
    const today = utcDate(now);
    const windows = newWindows();
    // The minute may have started on the day before.
    const used = await this.usage.findOne({
      where: { clientId, day: LessThanOrEqual(today) },
      order: { day: 'DESC' },
    });
    if (used?.day === today) {
      const count = Math.max(0, used.requests - used.forgiven);
      windows.day = { start: startOfDay(now), count, refunds: used.refunds };
    }
    // A reset ends the minute.
    const start = used?.minuteStart?.getTime() ?? 0;
    if (start > resetAt) {
      windows.minute = { start, count: used!.minuteRequests, refunds: used!.minuteRefunds };
    }
    return windows;
  }

  /** Writes pending counts without waiting for the next second, so that other instances that count alone can read the counts. */
  flushSoon(): void {
    this.counts.flushSoon();
  }

  /** Writes what is pending. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all([this.counts.flush(), this.bansEarned.flush()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.counts.close(), this.bansEarned.close()]);
  }

  private async writeCounts(counts: Counted[]): Promise<void> {
    await this.usage.query(
      // SQL, because TypeORM cannot add to what is stored.
      // In the order of ids, so that instances that count for the same clients wait for each other without a deadlock.
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
    // Rows are locked in the order of ids, so that instances with the same clients wait for each other without a deadlock.
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

/** Saves the ban of a key with a later stamp than its ban before. */
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
