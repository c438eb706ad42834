import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, In, MoreThan, Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database, type Transaction, int8ToNumber } from '#libs/database';
import { AuditTrail } from '../audit';
import { ClientsService, KeysService, describeKey } from '../auth';
import { KeyBan, QuotaReset, UsageDay } from './quotas.entity';
import { type BanState, ban, banLevel, isBanned, newBanState, unban } from './rules/decision';
import { limitsOf, newWindowState, standings, type WindowStanding } from './rules/limits';
import { QuotaRecords, saveBans } from './stores/quota-records';

interface RankedRow {
  client: string;
  plan: string;
  perMinute: number | null;
  perDay: number | null;
  requests: string;
  forgiven: string;
}

export type RankedClient = {
  client: string;
  plan: string;
  requests: number;
  perDay: number;
  /** Share of the day's limit that is used, minus resets; only for a single day. */
  usedPercent?: number;
};

/** (Type aliases, because interfaces do not fit a Record.) */
export type WindowOverview = {
  limit: number;
  used: number;
  remaining: number;
  /** Null for a minute that has not started. */
  resetAt: string | null;
};

export type KeyOverview = {
  id: number;
  endsWith: string;
  state: 'active' | 'banned' | 'expired' | 'revoked';
  bannedUntil: string | null;
  /** Bans that are not forgiven yet. The higher the level, the longer the next ban. */
  banLevel: number;
};

export type ClientOverview = {
  client: string;
  plan: string;
  minute: WindowOverview;
  day: WindowOverview;
  keys: KeyOverview[];
};

/** Bans, resets and usage, for operators. Changes apply on every instance within a second. */
@Injectable()
export class QuotasService {
  constructor(
    @InjectRepository(KeyBan) private readonly bans: Repository<KeyBan>,
    @InjectRepository(UsageDay) private readonly usage: Repository<UsageDay>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly records: QuotaRecords,
  ) {}

  /**
   * Bans a key, starting now. It raises the key's ban level like an automatic ban.
   * @param durationMs default: as long as the key's next automatic ban
   * @returns the end of the ban
   */
  ban(keyId: number, durationMs?: number): Promise<Date> {
    return this.database.transaction(async (transaction) => {
      const bans = await lockedBans(keyId, transaction);
      ban(bans, this.clock.now(), { durationMs, byOperator: true });
      await saveBans(transaction, [{ keyId, ...bans }]);
      const details = { level: bans.level, bannedUntil: toText(bans.bannedUntil) };
      await this.trail.record(transaction, { action: 'key.banned', keyId, details });
      return new Date(bans.bannedUntil);
    });
  }

  /** Lifts a ban and reverts its level. Has no effect on a key that is not banned. */
  unban(keyId: number): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const bans = await lockedBans(keyId, transaction);
      const now = this.clock.now();
      const wasBanned = isBanned(bans, now);
      const before = { level: bans.level, bannedUntil: toText(bans.bannedUntil) };
      unban(bans, now);
      // Always written: an instance may hold a ban that is older than this change.
      await saveBans(transaction, [{ keyId, ...bans }]);
      if (!wasBanned) {
        return;
      }
      const details = {
        level: { before: before.level, after: bans.level },
        bannedUntil: { before: before.bannedUntil, after: toText(bans.bannedUntil) },
      };
      await this.trail.record(transaction, { action: 'key.unbanned', keyId, details });
    });
  }

  /** When the active bans end, by key id. Bans of the last second may be missing. */
  async activeBans(): Promise<Map<number, Date>> {
    const active = await this.bans.findBy({ bannedUntil: MoreThan(new Date(this.clock.now())) });
    return new Map(active.map(({ keyId, bannedUntil }) => [keyId, bannedUntil]));
  }

  /** Copies a ban to the key that replaces the banned one; otherwise rotation would lift bans. */
  async inheritBan(transaction: Transaction, fromKeyId: number, toKeyId: number): Promise<void> {
    const inherited = await transaction.findOneBy(KeyBan, { keyId: fromKeyId });
    if (inherited) {
      await transaction.insert(KeyBan, { ...inherited, keyId: toKeyId });
    }
  }

  /**
   * Restarts a client's windows; bans stay. Past requests stay in the client's usage. Requests that an instance has not
   * written yet (up to a second) count against the day again after a restart.
   * @param clientId id of an existing client
   */
  reset(clientId: number): Promise<void> {
    const now = this.clock.now();
    const day = utcDate(now);
    return this.database.transaction(async (transaction) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const last = await transaction.findOne(QuotaReset, { where: { clientId }, lock });
      const used = await transaction.findOneBy(UsageDay, { clientId, day });
      // Later than the last one: instances apply each reset once.
      const resetAt = new Date(Math.max(now, (last?.resetAt.getTime() ?? 0) + 1));
      await transaction.upsert(QuotaReset, { clientId, day, requests: used?.requests ?? 0, resetAt }, [
        'clientId',
      ]);
      await this.trail.record(transaction, { action: 'quota.reset', clientId, details: {} });
    });
  }

  /** The requests of the last `days` UTC days, oldest first. Counts that are not written yet are missing. */
  async usageOf(clientId: number, days: number): Promise<{ date: string; requests: number }[]> {
    const since = this.clock.now() - (days - 1) * DAY_MS;
    const dates = Array.from({ length: days }, (_, index) => utcDate(since + index * DAY_MS));
    const used = await this.usage.findBy({ clientId, day: Between(dates[0]!, dates.at(-1)!) });
    const requests = new Map(used.map((one) => [one.day, Math.max(0, one.requests)]));
    return dates.map((date) => ({ date, requests: requests.get(date) ?? 0 }));
  }

  /**
   * A client's usage of its limits: what the running instances have saved, up to a second ago.
   * @throws AdministrationError if there is no client of that name
   */
  async overviewOf(name: string): Promise<ClientOverview> {
    const client = await this.clients.named(name);
    const keys = await this.keys.list(name);
    const now = this.clock.now();
    const limits = limitsOf(client);
    const { requests, minuteStart, minuteCount } = await this.records.usageOf(client.id);
    const windows = { ...newWindowState(now), minuteStart, minuteCount, dayCount: requests };
    const [minute, day] = standings(windows, limits, now);
    const stored = await this.bans.findBy({ keyId: In(keys.map(({ id }) => id)) });
    const bans = new Map(stored.map((one) => [one.keyId, toBanState(one)]));
    return {
      client: client.name,
      plan: client.plan,
      minute: windowOf(minute!, windows.minuteCount),
      day: { ...windowOf(day!, requests), resetAt: toText(day!.resetAt) },
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, now);
        return { id, endsWith, ...banColumns(bans.get(id) ?? newBanState(), now, state) };
      }),
    };
  }

  /**
   * The clients with the most requests. Up to a second behind.
   * @param days number of UTC days, including today
   */
  async top(limit: number, days: number): Promise<RankedClient[]> {
    const rows = await this.usage
      .createQueryBuilder('used')
      .innerJoin('clients', 'client', 'client.id = used.clientId')
      .leftJoin(QuotaReset, 'reset', 'reset.clientId = used.clientId AND reset.day = used.day')
      .select('client.name', 'client')
      .addSelect('client.plan', 'plan')
      .addSelect('client.per_minute', 'perMinute')
      .addSelect('client.per_day', 'perDay')
      .addSelect('sum(used.requests)::bigint', 'requests')
      .addSelect('coalesce(max(reset.requests), 0)', 'forgiven')
      .where('used.day >= :since', { since: utcDate(this.clock.now() - (days - 1) * DAY_MS) })
      .groupBy('client.id')
      .having('sum(used.requests) > 0')
      .orderBy('sum(used.requests)', 'DESC')
      .addOrderBy('client.id')
      .limit(limit)
      .getRawMany<RankedRow>();
    return rows.map((row) => rank(row, days === 1));
  }
}

async function lockedBans(keyId: number, transaction: Transaction): Promise<BanState> {
  const stored = await transaction.findOne(KeyBan, { where: { keyId }, lock: { mode: 'pessimistic_write' } });
  return stored ? toBanState(stored) : newBanState();
}

function toBanState({ level, bannedUntil, byOperator }: KeyBan): BanState {
  return { ...newBanState(), level, bannedUntil: bannedUntil.getTime(), byOperator };
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function rank(row: RankedRow, oneDay: boolean): RankedClient {
  const perDay = limitsOf(row).perDay!;
  const requests = int8ToNumber(row.requests);
  const ranked = { client: row.client, plan: row.plan, requests, perDay };
  const used = Math.max(0, requests - int8ToNumber(row.forgiven));
  // To one decimal.
  return oneDay ? { ...ranked, usedPercent: Math.round((used / perDay) * 1_000) / 10 } : ranked;
}

function windowOf(standing: WindowStanding, used: number): WindowOverview {
  const { limit, remaining } = standing;
  return { limit, used, remaining, resetAt: used === 0 ? null : toText(standing.resetAt) };
}

/** Revoked and expired take precedence over banned. */
function banColumns(
  ban: BanState,
  now: number,
  state: KeyOverview['state'],
): Pick<KeyOverview, 'state' | 'bannedUntil' | 'banLevel'> {
  const banned = isBanned(ban, now);
  return {
    state: banned && state === 'active' ? 'banned' : state,
    bannedUntil: banned ? toText(ban.bannedUntil) : null,
    banLevel: banLevel(ban, now),
  };
}
