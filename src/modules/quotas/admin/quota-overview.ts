import { Injectable } from '@nestjs/common';
import { ClientsService, KeysService, describeKey } from '../../auth/administration';
import { banLevel, isBanned, newBanState } from '../rules/ban-rules';
import { limitsOf } from '../rules/plans';
import { type WindowStanding, standings } from '../rules/rate-window';
import { type CounterReading, CounterReader, type RedisPart } from './counter-reader';

/** Null: known only to the running server. (Type aliases, because interfaces do not fit a Record.) */
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
  /** Bans that are not forgiven yet: the higher, the longer the next one. */
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

/** A client's usage of its limits, for operators. */
@Injectable()
export class QuotaOverview {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly counters: CounterReader,
  ) {}

  /** @throws AdministrationError when there is no client of that name */
  async of(name: string): Promise<ClientOverview> {
    const client = await this.clients.named(name);
    const keys = await this.keys.list(name);
    const reading = await this.counters.read(
      client.id,
      keys.map(({ id }) => id),
    );
    const [minute, day] = standings(reading.windows, limitsOf(client), reading.now);
    return {
      client: client.name,
      plan: client.plan,
      redis: reading.redis,
      minute: minuteOf(minute!, reading),
      day: known(day!, reading.windows.dayCount),
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, reading.now);
        return { id, endsWith, ...banOf(reading, id, state) };
      }),
    };
  }
}

function minuteOf(standing: WindowStanding, { redis, windows }: CounterReading): WindowOverview {
  if (redis !== 'answered') {
    return { limit: standing.limit, used: null, remaining: null, resetAt: null };
  }
  // A minute starts with its first request; before that it has no end.
  const running = windows.minuteStart >= 0;
  return { ...known(standing, windows.minuteCount), ...(running ? {} : { resetAt: null }) };
}

function known({ limit, remaining, resetAt }: WindowStanding, used: number): WindowOverview {
  return { limit, used, remaining, resetAt: new Date(resetAt).toISOString() };
}

/** Revoked and expired take precedence over banned. */
function banOf(
  { bans, now }: CounterReading,
  keyId: number,
  state: KeyOverview['state'],
): Pick<KeyOverview, 'state' | 'bannedUntil' | 'banLevel'> {
  const ban = bans.get(keyId) ?? newBanState();
  const banned = isBanned(ban, now);
  return {
    state: banned && state === 'active' ? 'banned' : state,
    bannedUntil: banned ? new Date(ban.bannedUntil).toISOString() : null,
    banLevel: banLevel(ban, now),
  };
}
