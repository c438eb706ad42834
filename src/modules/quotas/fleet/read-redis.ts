import { once } from 'node:events';
import type { BanState } from '../rules/ban-rules';
import { connectRedis } from './redis-connection';
import { keysOfClient } from './redis-quota-store';
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
  const fields = async (key: string, ...names: string[]) => numbers(await redis.hmget(key, ...names));
  const [windowsKey = ''] = keysOfClient(clientId, 0);
  const read = async (): Promise<RedisReading> => {
    const [windows, bans, [seconds, microseconds]] = await Promise.all([
      fields(windowsKey, 's', 'm', 'p', 'd', 'n', 'q'),
      Promise.all(keyIds.map((keyId) => fields(keysOfClient(clientId, keyId)[1]!, 'r', 'u', 'l', 'b'))),
      redis.time(),
    ]);
    return {
      windows: windows && windowState(windows),
      bans: new Map(keyIds.flatMap((keyId, index) => (bans[index] ? [[keyId, banState(bans[index])]] : []))),
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

function windowState(fields: number[]): WindowState {
  const [minuteStart = 0, minuteCount = 0, minuteRefunds = 0, day = 0, dayCount = 0, dayRefunds = 0] = fields;
  return { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds };
}

function banState([refusals = 0, refusalsUntil = 0, level = 0, bannedUntil = 0]: number[]): BanState {
  return { refusals, refusalsUntil, level, bannedUntil };
}
