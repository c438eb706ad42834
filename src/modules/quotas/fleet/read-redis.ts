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

/** How long a person waits for Redis before the answer does without it. */
const PATIENCE_MS = 2_000;

/** What Redis knows of a client; null and missing where it knows nothing. */
export interface RedisReading {
  windows: WindowState | null;
  bans: Map<number, BanState>;
  /** Unix milliseconds on Redis's clock, by which all instances count. */
  now: number;
}

/**
 * Reads what the instances count together, and changes nothing.
 * @throws Error when Redis cannot be reached, or does not answer in time
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
    await once(redis, 'ready', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return await withinBudget(read(), PATIENCE_MS);
  } finally {
    redis.disconnect();
  }
}

/** All fields of a hash are there, or none. */
function numbers(values: (string | null)[]): number[] | null {
  return values[0] == null ? null : values.map(Number);
}
