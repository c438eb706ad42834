import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { SETTINGS, type Settings } from '../../settings';
import { ClientsService, KeysService, describeKey } from '../auth';
import { LiveUsageQuery } from './instances';
import { KeyBan, toStoredBan } from './quotas.entity';
import { type BanState, banLevel, isBanned, newBanState } from './rules/decision';
import { limitsOf, newWindowState, standings, type WindowStanding } from './rules/limits';
import { QuotaRecords } from './stores/quota-records';
import type { ClientSubject } from './stores/quota-store';

/** `off`: no REDIS_URL. `silent`: no running instance reaches Redis. */
type RedisPart = 'off' | 'answered' | 'silent';

/** Null: unknown, because no instance has answered. (Type aliases, because interfaces do not fit a Record.) */
export type WindowOverview = {
  limit: number;
  used: number | null;
  remaining: number | null;
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
  redis: RedisPart;
  minute: WindowOverview;
  day: WindowOverview;
  keys: KeyOverview[];
};

/** A client's usage of its limits, for operators, read from another process than the one that counts. */
@Injectable()
export class QuotaOverview {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly records: QuotaRecords,
    @InjectRepository(KeyBan) private readonly bans: Repository<KeyBan>,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly liveUsage: LiveUsageQuery,
  ) {}

  /** @throws AdministrationError if there is no client of that name */
  async of(name: string): Promise<ClientOverview> {
    const client = await this.clients.named(name);
    const keys = await this.keys.list(name);
    const now = this.clock.now();
    const limits = limitsOf(client);
    const { requests } = await this.records.usageOf(client.id);
    const [unused, day] = standings({ ...newWindowState(now), dayCount: requests }, limits, now);
    const subject = keys[0] && ({ kind: 'client', clientId: client.id, keyId: keys[0].id, limits } as const);
    const { redis, minute } = await this.minuteOf(subject, unused!);
    const bans = await this.bansOf(keys.map(({ id }) => id));
    return {
      client: client.name,
      plan: client.plan,
      redis,
      minute: asMinute(limits.perMinute, minute),
      day: known(day!, requests),
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, now);
        return { id, endsWith, ...banColumns(bans.get(id) ?? newBanState(), now, state) };
      }),
    };
  }

  /**
   * The minute that the running instances have counted; undefined if it is unknown.
   * @param subject undefined for a client without keys
   * @param unused the minute of a client without requests
   */
  private async minuteOf(
    subject: ClientSubject | undefined,
    unused: WindowStanding,
  ): Promise<{ redis: RedisPart; minute: WindowStanding | undefined }> {
    const answers = subject ? await this.liveUsage.ask(subject) : null;
    if (this.settings.redisUrl === undefined) {
      // Of instances that count separately, the one that counted most. If none runs, nothing is counted.
      const minutes = answers?.map(({ standings: [minute] }) => minute!) ?? [unused];
      return { redis: 'off', minute: minutes.sort((one, other) => one.remaining - other.remaining)[0] };
    }
    const shared = answers?.find(({ isLocal }) => !isLocal);
    return shared
      ? { redis: 'answered', minute: shared.standings[0] }
      : { redis: 'silent', minute: undefined };
  }

  private async bansOf(keyIds: number[]): Promise<Map<number, BanState>> {
    const stored = await this.bans.findBy({ keyId: In(keyIds) });
    return new Map(stored.map((one) => [one.keyId, { ...newBanState(), ...toStoredBan(one) }]));
  }
}

/** A minute starts with its first request; before that it has no end. */
function asMinute(limit: number, counted: WindowStanding | undefined): WindowOverview {
  if (counted === undefined) {
    return { limit, used: null, remaining: null, resetAt: null };
  }
  const used = limit - counted.remaining;
  return { ...known(counted, used), ...(used === 0 ? { resetAt: null } : {}) };
}

function known({ limit, remaining, resetAt }: WindowStanding, used: number): WindowOverview {
  return { limit, used, remaining, resetAt: new Date(resetAt).toISOString() };
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
    bannedUntil: banned ? new Date(ban.bannedUntil).toISOString() : null,
    banLevel: banLevel(ban, now),
  };
}
