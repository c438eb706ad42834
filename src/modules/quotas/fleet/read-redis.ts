import { once } from 'node:events';
import type { BanState } from '../rules/ban-rules';
import { connectRedis } from './redis-connection';
import {
  BAN_FIELDS,
  WINDOW_FIELDS,
  bansFrom,
  keysOfClient,
  windowsFrom,
  windowsOfClient,
} from './redis-state';
import { withinBudget } from './within-budget';
import type { WindowState } from '../rules/rate-window';

/** After this, commands continue without Redis. */
const TIMEOUT_MS = 2_000;

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
export async function readRedis(url: string, clientId: number, keyIds: number[]): Promise<RedisReading> {
  const redis = connectRedis(url);
  redis.on('error', () => undefined);
  const valuesOf = async (key: string, fields: Record<string, string>) =>
    numbers(await redis.hmget(key, ...Object.values(fields)));
  const read = async (): Promise<RedisReading> => {
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
  };
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return await withinBudget(read(), TIMEOUT_MS);
  } finally {
    redis.disconnect();
  }
}

/** A hash has all of its fields or none. */
function numbers(values: (string | null)[]): number[] | null {
  return values[0] == null ? null : values.map(Number);
}
