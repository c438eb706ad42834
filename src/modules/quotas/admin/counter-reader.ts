import { Inject, Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { SETTINGS, type Settings } from '../../../settings';
import { KeyBan, banOf } from '../key-ban.entity';
import { type BanState, newBanState } from '../rules/ban-rules';
import { DAY_MS, type WindowState, newWindowState } from '../rules/rate-window';
import { QuotaRecords } from '../counting/quota-records';

/** Whether Redis was asked (there is a REDIS_URL), and whether it answered. */
export type RedisPart = 'off' | 'answered' | 'silent';

export interface CounterReading {
  redis: RedisPart;
  /** The minute in it is true only when Redis answered: otherwise the running server alone knows it. */
  windows: WindowState;
  /** By the key's id; a key that is not in it has never been banned. */
  bans: Map<number, BanState>;
  /** Unix milliseconds on the clock of whoever counts. */
  now: number;
}

/** A client's counters as they are seen from outside of the process that counts. Reading them changes nothing. */
@Injectable()
export class CounterReader {
  constructor(
    private readonly records: QuotaRecords,
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async read(clientId: number, keyIds: number[]): Promise<CounterReading> {
    const written = await this.readDatabase(clientId, keyIds);
    const { redisUrl } = this.settings;
    if (redisUrl === undefined) {
      return written;
    }
    // Without Redis, which most have no use for, its driver is not loaded.
    const { readRedis } = await import('../fleet/read-redis.js');
    try {
      // A client or key that Redis does not know is one that the database remembers.
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
    const { requests } = await this.records.usedOf(clientId, Math.floor(now / DAY_MS));
    const stored = await this.database.reader.findBy(KeyBan, { keyId: In(keyIds) });
    const bans = new Map(stored.map((one) => [one.keyId, { ...newBanState(), ...banOf(one) }]));
    return { redis: 'off', windows: { ...windows, dayCount: requests }, bans, now };
  }
}
