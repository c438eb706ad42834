import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database } from '#libs/database';
import { AuditTrail } from '../audit';
import { type ApiKey, banEndOf, ClientsService, describeKey, type StoredBan } from '../auth';
import { banByOperator, banLevel, isBanned, unban } from './rules/bans';
import { limitsOf, type WindowStatus, rollWindows } from './rules/limits';
import { QuotaRecords, writeBan } from './counters/quota-records';
import { UsageDay } from './usage-day.entity';

@Injectable()
export class QuotasService {
  constructor(
    @InjectRepository(UsageDay) private readonly usage: Repository<UsageDay>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
    private readonly clients: ClientsService,
    private readonly records: QuotaRecords,
  ) {}

  /** Bans a key. The default duration is that of the key's next automatic ban. @returns the end of the ban */
  ban(keyId: number, durationMs?: number): Promise<Date> {
    return this.database.transaction(async (transaction) => {
      const ban = storedBanOf(await this.clients.lockKey(keyId, transaction));
      banByOperator(ban, this.clock.now(), durationMs);
      await writeBan(transaction, keyId, ban);
      const bannedUntil = new Date(ban.bannedUntil);
      const details = { level: ban.level, bannedUntil };
      await this.trail.record(transaction, { action: 'key.banned', keyId, details });
      return bannedUntil;
    });
  }

  /** Lifts the ban of a key. @returns true if the key was banned */
  unban(keyId: number): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const before = storedBanOf(await this.clients.lockKey(keyId, transaction));
      const after = { ...before };
      const now = this.clock.now();
      unban(after, now);
      // Save the lifted ban even if the key has no ban in the database, because the key may so far be banned only in Redis
      // or in the memory of an instance. Within a second, every instance reads the lifted ban, which replaces an older ban.
      await writeBan(transaction, keyId, after);
      const wasBanned = isBanned(before, now);
      if (wasBanned) {
        const details = {
          level: { before: before.level, after: after.level },
          bannedUntil: { before: new Date(before.bannedUntil), after: new Date(after.bannedUntil) },
        };
        await this.trail.record(transaction, { action: 'key.unbanned', keyId, details });
      }
      return wasBanned;
    });
  }

  /** Gives a client its full limits again. Bans stay, and the usage report still includes the earlier requests. */
  reset(clientId: number): Promise<void> {
    const now = this.clock.now();
    const day = utcDate(now);
    return this.database.transaction(async (transaction) => {
      // Set `reset_at` to a later time than before, because instances ignore a reset that is not newer than the last
      // one.
      await transaction.query(
        `UPDATE clients SET reset_at = greatest($2, reset_at + interval '1 millisecond') WHERE id = $1`,
        [clientId, new Date(now)],
      );
      await transaction.update(
        UsageDay,
        { clientId, day },
        { forgiven: () => 'requests', refunds: 0, minuteStart: null },
      );
      await this.trail.record(transaction, { action: 'quota.reset', clientId, details: {} });
    });
  }

  /**
   * Gives the store a new identity, for example after the store was copied. Stores with different identities share no
   * counts in Redis.
   */
  renewStoreIdentity(): Promise<string> {
    return this.database.transaction(async (transaction) => {
      const [[row]] = await transaction.query<[{ id: string }[]]>(
        'UPDATE store_identity SET id = gen_random_uuid() RETURNING id',
      );
      await this.trail.record(transaction, { action: 'store.identity_renewed', details: {} });
      return row!.id;
    });
  }

  async usageOf(clientId: number, days: number): Promise<{ date: string; requests: number }[]> {
    await this.records.flush();
    const since = this.clock.now() - (days - 1) * DAY_MS;
    const dates = Array.from({ length: days }, (_, index) => utcDate(since + index * DAY_MS));
    const used = await this.usage.findBy({ clientId, day: Between(dates[0]!, dates.at(-1)!) });
    const requests = new Map(used.map((one) => [one.day, Math.max(0, one.requests)]));
    return dates.map((date) => ({ date, requests: requests.get(date) ?? 0 }));
  }

  /**
   * Returns how much of its limits a client has used. Requests of the last second may be missing.
   * @throws OperatorError if there is no such client
   */
  async overviewOf(name: string) {
    const client = await this.clients.get(name);
    const keys = await this.clients.listKeys(client.name);
    const now = this.clock.now();
    const limits = limitsOf(client);
    const resetAt = client.resetAt?.getTime() ?? 0;
    const windows = await this.records.windowsOf({ clientId: client.id, resetAt });
    const [minute, day] = rollWindows(windows, limits, now);
    return {
      client: client.name,
      plan: client.plan,
      minute: windowOf(minute!, windows.minute.count),
      day: { ...windowOf(day!, windows.day.count), resetAt: new Date(day!.resetAt) },
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, now);
        const bannedUntil = banEndOf(key, now);
        return { id, endsWith, state, bannedUntil, banLevel: banLevel(storedBanOf(key), now) };
      }),
    };
  }

  busiestClients(limit: number, days: number): Promise<{ client: string; plan: string; requests: number }[]> {
    return this.database.query({
      text: `SELECT client.name AS client, client.plan, sum(used.requests)::float8 AS requests
       FROM usage_days AS used JOIN clients AS client ON client.id = used.client_id
       WHERE used.day >= $1 AND client.deleted_at IS NULL GROUP BY client.id HAVING sum(used.requests) > 0 ORDER BY requests DESC, client.id LIMIT $2`,
      values: [utcDate(this.clock.now() - (days - 1) * DAY_MS), limit],
    });
  }
}

function storedBanOf({ banLevel: level, bannedUntil, bannedByOperator: byOperator }: ApiKey): StoredBan {
  return { level, bannedUntil: bannedUntil?.getTime() ?? 0, byOperator, changedAt: 0 };
}

/** `resetAt` is null if the client has used nothing, because the minute starts with the first request. */
function windowOf({ limit, remaining, resetAt }: WindowStatus, used: number) {
  return { limit, used, remaining, resetAt: used === 0 ? null : new Date(resetAt) };
}
