import { Inject, Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { SETTINGS, type Settings } from '../../../settings';
import { KeyBan, toStoredBan } from '../key-ban.entity';
import { type BanState, newBanState } from '../rules/ban-rules';
import { DAY_MS, type WindowState, newWindowState } from '../rules/rate-window';
import { QuotaRecords } from '../counting/quota-records';

/** `off`: no REDIS_URL. `silent`: Redis did not answer. */
export type RedisPart = 'off' | 'answered' | 'silent';

export interface CounterReading {
  redis: RedisPart;
  /** The minute is valid only if Redis answered; otherwise only the running instances know it. */
  windows: WindowState;
  /** By key id; a key without an entry has never been banned. */
  bans: Map<number, BanState>;
  /** Unix milliseconds on the clock of the counter (Redis or this process). */
  now: number;
}

/** Reads a client's counters from another process than the one that counts. Read-only. */
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
    // Loads the driver only if Redis is used.
    const { readRedis } = await import('../fleet/read-redis.js');
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
    const { requests } = await this.records.usedOf(clientId, Math.floor(now / DAY_MS));
    const stored = await this.database.reader.findBy(KeyBan, { keyId: In(keyIds) });
    const bans = new Map(stored.map((one) => [one.keyId, { ...newBanState(), ...toStoredBan(one) }]));
    return { redis: 'off', windows: { ...windows, dayCount: requests }, bans, now };
  }
}
