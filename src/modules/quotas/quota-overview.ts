import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { SETTINGS, type Settings } from '../../settings';
import { ClientsService, KeysService, describeKey } from '../auth';
import { LiveUsageQuery } from './instances';
import { KeyBan, toStoredBan } from './quotas.entity';
import { type BanState, banLevel, isBanned, newBanState } from './rules/ban-rules';
import { limitsOf } from './rules/plans';
import { type WindowStanding, type WindowState, newWindowState, standings } from './rules/rate-window';
import { QuotaRecords } from './stores/quota-records';
import type { ClientSubject } from './stores/quota-store';

/** `off`: no REDIS_URL. `silent`: Redis did not answer. */
type RedisPart = 'off' | 'answered' | 'silent';

interface CounterReading {
  redis: RedisPart;
  /** The minute is valid only if Redis answered; otherwise only the running instances know it. */
  windows: WindowState;
  /** By key id; a key without an entry has never been banned. */
  bans: Map<number, BanState>;
  /** Unix milliseconds on the clock of the counter (Redis or this process). */
  now: number;
}

/** Null: unknown, because no counter has answered. (Type aliases, because interfaces do not fit a Record.) */
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
    const reading = await this.read(
      client.id,
      keys.map(({ id }) => id),
    );
    const limits = limitsOf(client);
    const [minute, day] = standings(reading.windows, limits, reading.now);
    const subject = keys[0] && ({ kind: 'client', clientId: client.id, keyId: keys[0].id, limits } as const);
    const running = await this.runningMinute(reading.redis, minute!, subject);
    return {
      client: client.name,
      plan: client.plan,
      redis: reading.redis,
      minute: minuteOf(minute!.limit, running),
      day: known(day!, reading.windows.dayCount),
      keys: keys.map((key) => {
        const { id, endsWith, state } = describeKey(key, reading.now);
        return { id, endsWith, ...banColumns(reading, id, state) };
      }),
    };
  }

  /**
   * Undefined if no counter has answered. Without Redis, it is the minute of the instance that counted most, because
   * each counts separately.
   * @param read the minute in Redis; that of a client without requests if Redis is not used
   * @param subject undefined for a client without keys
   */
  private async runningMinute(
    redis: RedisPart,
    read: WindowStanding,
    subject: ClientSubject | undefined,
  ): Promise<WindowStanding | undefined> {
    if (redis !== 'off' || subject === undefined) {
      return redis === 'silent' ? undefined : read;
    }
    const answers = await this.liveUsage.ask(subject);
    if (answers === null) {
      return read;
    }
    const minutes = answers.map(([minute]) => minute!);
    return minutes.sort((one, other) => one.remaining - other.remaining)[0];
  }

  private async read(clientId: number, keyIds: number[]): Promise<CounterReading> {
    const written = await this.readDatabase(clientId, keyIds);
    const { redisUrl } = this.settings;
    if (redisUrl === undefined) {
      return written;
    }
    // Loads the driver only if Redis is used.
    const { readRedis } = await import('./stores/redis-connection.js');
    try {
      // The database fills in what Redis does not have.
      const { windows, bans, now } = await readRedis(redisUrl, clientId, keyIds);
      return {
        redis: 'answered',
        windows: windows ?? written.windows,
        bans: new Map([...written.bans, ...bans]),
        now,
      };
    } catch {
      return { ...written, redis: 'silent' };
    }
  }

  private async readDatabase(clientId: number, keyIds: number[]): Promise<CounterReading> {
    const now = this.clock.now();
    const windows = newWindowState(now);
    const { requests } = await this.records.usageOf(clientId);
    const stored = await this.bans.findBy({ keyId: In(keyIds) });
    const bans = new Map(stored.map((one) => [one.keyId, { ...newBanState(), ...toStoredBan(one) }]));
    return { redis: 'off', windows: { ...windows, dayCount: requests }, bans, now };
  }
}

/** A minute starts with its first request; before that it has no end. */
function minuteOf(limit: number, counted: WindowStanding | undefined): WindowOverview {
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
