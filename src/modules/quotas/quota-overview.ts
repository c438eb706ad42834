import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { ClientsService, KeysService, describeKey } from '../auth';
import { KeyBan, toStoredBan } from './quotas.entity';
import { type BanState, banLevel, isBanned, newBanState } from './rules/decision';
import { limitsOf, newWindowState, standings, type WindowStanding } from './rules/limits';
import { QuotaRecords } from './stores/quota-records';

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

/** A client's usage of its limits, for operators: what the running instances have saved, up to a second ago. */
@Injectable()
export class QuotaOverview {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly records: QuotaRecords,
    @InjectRepository(KeyBan) private readonly bans: Repository<KeyBan>,
    private readonly clock: Clock,
  ) {}

  /** @throws AdministrationError if there is no client of that name */
  async of(name: string): Promise<ClientOverview> {
    const client = await this.clients.named(name);
    const keys = await this.keys.list(name);
    const now = this.clock.now();
    const limits = limitsOf(client);
    const { requests, minuteStart, minuteCount } = await this.records.usageOf(client.id);
    const windows = { ...newWindowState(now), minuteStart, minuteCount, dayCount: requests };
    const [minute, day] = standings(windows, limits, now);
    const bans = await this.bansOf(keys.map(({ id }) => id));
    return {
      client: client.name,
      plan: client.plan,
      minute: overviewOf(minute!, windows.minuteCount),
      day: { ...overviewOf(day!, requests), resetAt: toText(day!) },
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, now);
        return { id, endsWith, ...banColumns(bans.get(id) ?? newBanState(), now, state) };
      }),
    };
  }

  private async bansOf(keyIds: number[]): Promise<Map<number, BanState>> {
    const stored = await this.bans.findBy({ keyId: In(keyIds) });
    return new Map(stored.map((one) => [one.keyId, { ...newBanState(), ...toStoredBan(one) }]));
  }
}

function overviewOf(standing: WindowStanding, used: number): WindowOverview {
  const { limit, remaining } = standing;
  return { limit, used, remaining, resetAt: used === 0 ? null : toText(standing) };
}

function toText({ resetAt }: WindowStanding): string {
  return new Date(resetAt).toISOString();
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
