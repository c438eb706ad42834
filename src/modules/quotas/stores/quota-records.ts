import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Clock, utcDate } from '#libs/clock';
import { Database, type Transaction, int8ToNumber, WriteBehind } from '#libs/database';
import { AuditTrail } from '../../audit';
import { KeyBan, QuotaReset, UsageDay, toStoredBan } from '../quotas.entity';
import type { BanState, StoredBan } from '../rules/decision';
import { DAY_MS, type WindowState } from '../rules/limits';

const INTERVAL_MS = 1_000;

const NEVER_BANNED: StoredBan = { level: 0, bannedUntil: 0, byOperator: false };

/** The requests that count against the limits, and the last reset (unix milliseconds, 0 for never). */
export interface StoredUsage extends Pick<WindowState, 'day' | 'minuteStart' | 'minuteCount'> {
  requests: number;
  resetAt: number;
}

/** What a counter reads on first use. */
export interface StoredState extends StoredUsage {
  ban: StoredBan;
}

interface DayCount extends Pick<WindowState, 'day' | 'minuteStart' | 'minuteCount'> {
  clientId: number;
  /** To be added to those of the day. */
  requests: number;
}

interface EarnedBan {
  level: number;
  /** Unix milliseconds, as `earnedAt` is. */
  bannedUntil: number;
  earnedAt: number;
}

/** Reads once for all who ask for the same meanwhile: after an outage all keys are read at once. */
export function shareRead<Value>(
  reading: Map<number, Promise<Value>>,
  id: number,
  read: () => Promise<Value>,
): Promise<Value> {
  let value = reading.get(id);
  if (value === undefined) {
    value = read().finally(() => reading.delete(id));
    reading.set(id, value);
  }
  return value;
}

/** Persists daily counts and bans: written every second and at shutdown. */
@Injectable()
export class QuotaRecords implements OnApplicationShutdown {
  private readonly counts: WriteBehind<DayCount>;
  /** By key, oldest first: the last one is in force, but each gets an audit entry. */
  private readonly bansEarned: WriteBehind<EarnedBan[]>;

  constructor(
    @InjectRepository(UsageDay) private readonly usage: Repository<UsageDay>,
    @InjectRepository(QuotaReset) private readonly quotaResets: Repository<QuotaReset>,
    @InjectRepository(KeyBan) private readonly keyBans: Repository<KeyBan>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {
    this.counts = new WriteBehind<DayCount>({
      name: 'Saving counts',
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => ({ ...later, requests: earlier.requests + later.requests }),
      write: (batch) => this.writeCounts([...batch.values()]),
    });
    this.bansEarned = new WriteBehind<EarnedBan[]>({
      name: 'Saving bans',
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => [...earlier, ...later],
      write: (batch) => this.writeBans(batch),
    });
  }

  /**
   * @param windows as they are now
   * @param requests may be negative: a refunded request
   */
  count(clientId: number, windows: WindowState, requests: number): void {
    const { day, minuteStart, minuteCount } = windows;
    this.counts.add(`${clientId}/${day}`, { clientId, day, requests, minuteStart, minuteCount });
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
    const query = this.keyBans
      .createQueryBuilder('ban')
      .innerJoin('api_keys', 'key', 'key.id = ban.keyId')
      .addSelect('key.client_id', 'clientId');
    if (keyId === undefined) {
      query.where(`ban.bannedUntil > now() OR ban.changed_at > now() - interval '4 days'`);
    } else {
      query.where({ keyId });
    }
    const { entities, raw } = await query.getRawAndEntities<{ clientId: string }>();
    return entities.map((ban, index) => {
      return { clientId: int8ToNumber(raw[index]!.clientId), keyId: ban.keyId, ...toStoredBan(ban) };
    });
  }

  /** Ids of all clients with usage today. */
  async clientsOfToday(): Promise<number[]> {
    const used = await this.usage.find({
      select: { clientId: true },
      where: { day: utcDate(this.clock.now()) },
    });
    return used.map(({ clientId }) => clientId);
  }

  /** Today's count in the database, minus resets. Writes pending counts first. */
  async usageOf(clientId: number): Promise<StoredUsage> {
    await this.counts.flush();
    const now = this.clock.now();
    const day = utcDate(now);
    const [used, reset] = await Promise.all([
      this.usage.findOneBy({ clientId, day }),
      this.quotaResets.findOneBy({ clientId }),
    ]);
    const forgiven = reset?.day === day ? reset.requests : 0;
    const requests = Math.max(0, (used?.requests ?? 0) - forgiven);
    const resetAt = reset?.resetAt.getTime() ?? 0;
    const minuteStart = used?.minuteStart?.getTime() ?? 0;
    const minuteCount = minuteStart > resetAt ? (used?.minuteRequests ?? 0) : 0;
    return { day: Math.floor(now / DAY_MS), requests, resetAt, minuteStart, minuteCount };
  }

  /** The reset of one client, or all resets of the last day. */
  async resets(clientId?: number): Promise<{ clientId: number; resetAt: number }[]> {
    const since = new Date(this.clock.now() - DAY_MS);
    const which = clientId === undefined ? { resetAt: MoreThan(since) } : { clientId };
    const resets = await this.quotaResets.findBy(which);
    return resets.map((one) => ({ clientId: one.clientId, resetAt: one.resetAt.getTime() }));
  }

  /** Today's count and the key's ban, for a counter that does not have them. */
  async read(clientId: number, keyId: number): Promise<StoredState> {
    const [usage, stored] = await Promise.all([this.usageOf(clientId), this.keyBans.findOneBy({ keyId })]);
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

  private async writeCounts(counts: DayCount[]): Promise<void> {
    // SQL, because TypeORM cannot add to what is stored.
    await this.usage.query(
      // Skips clients that have been deleted: one of them would make the batch fail repeatedly.
      // Of minutes that several instances have seen, the latest is kept, and the later state of it.
      `INSERT INTO usage_days (client_id, day, requests, minute_start, minute_requests)
       SELECT counted.client_id, DATE '1970-01-01' + counted.day, counted.requests, to_timestamp(minute_start / 1000.0),
         minute_requests
       FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::int[])
         AS counted (client_id, day, requests, minute_start, minute_requests)
       WHERE EXISTS (SELECT FROM clients WHERE clients.id = counted.client_id)
       ON CONFLICT (client_id, day) DO UPDATE SET requests = usage_days.requests + excluded.requests,
         (minute_start, minute_requests) = (
           SELECT * FROM (VALUES (usage_days.minute_start, usage_days.minute_requests),
             (excluded.minute_start, excluded.minute_requests)) AS seen ORDER BY 1 DESC NULLS LAST, 2 DESC LIMIT 1)`,
      [
        counts.map(({ clientId }) => clientId),
        counts.map(({ day }) => day),
        counts.map(({ requests }) => requests),
        counts.map(({ minuteStart }) => minuteStart),
        counts.map(({ minuteCount }) => minuteCount),
      ],
    );
  }

  private async writeBans(batch: Map<string, EarnedBan[]>): Promise<void> {
    const latest = [...batch.values()].map((bans) => bans.at(-1)!);
    await this.database.transaction(async (transaction) => {
      const written = await transaction.query<{ key_id: string }[]>(
        // SQL, because TypeORM cannot skip keys that have been deleted: one of them would make the batch fail repeatedly.
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
