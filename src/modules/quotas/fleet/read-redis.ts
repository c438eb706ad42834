import type { BanState } from '../rules/ban-rules';
import { withRedis } from './redis-connection';
import {
  BAN_FIELDS,
  WINDOW_FIELDS,
  bansFrom,
  keysOfClient,
  windowsFrom,
  windowsOfClient,
} from './redis-state';
import type { WindowState } from '../rules/rate-window';

/** A client's state in Redis; null or missing if Redis has none. */
export interface RedisReading {
  windows: WindowState | null;
  bans: Map<number, BanState>;
  /** Unix milliseconds on the clock of Redis. */
  now: number;
}

/**
 * Reads the shared counters.
 * @throws Error if Redis does not answer in time
 */
export function readRedis(url: string, clientId: number, keyIds: number[]): Promise<RedisReading> {
  return withRedis(url, async (redis) => {
    const valuesOf = async (key: string, fields: Record<string, string>) =>
      numbers(await redis.hmget(key, ...Object.values(fields)));
    const [windows, bans, [seconds, microseconds]] = await Promise.all([
      valuesOf(windowsOfClient(clientId), WINDOW_FIELDS),
      Promise.all(keyIds.map((keyId) => valuesOf(keysOfClient(clientId, keyId)[1], BAN_FIELDS))),
      redis.time(),
    ]);
    return {
      windows: windows && windowsFrom(windows),
      bans: new Map(keyIds.flatMap((keyId, index) => (bans[index] ? [[keyId, bansFrom(bans[index])]] : []))),
      now: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
    };
  });
}

/** A hash has all of its fields or none. */
function numbers(values: (string | null)[]): number[] | null {
  return values[0] == null ? null : values.map(Number);
}
