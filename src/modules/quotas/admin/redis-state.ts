import { once } from 'node:events';
import { connectRedis } from '../fleet/redis-connection';
import { withinBudget } from '../fleet/within-budget';

const TIMEOUT_MS = 2_000;

export interface RedisState {
  answers: boolean;
  version: string | null;
  /** Of one node of a cluster. */
  bytes: number | null;
}

/** Checks Redis. Read-only. */
export async function redisState(url: string): Promise<RedisState> {
  const redis = connectRedis(url);
  redis.on('error', () => undefined);
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const info = await withinBudget(redis.info(), TIMEOUT_MS);
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? null;
    const bytes = /^used_memory:(\d+)/m.exec(info)?.[1];
    return { answers: true, version, bytes: bytes === undefined ? null : Number(bytes) };
  } catch {
    return { answers: false, version: null, bytes: null };
  } finally {
    redis.disconnect();
  }
}
