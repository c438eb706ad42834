import { withRedis } from '../fleet/redis-connection';

export interface RedisStatus {
  answers: boolean;
  version: string | null;
  /** Of one node of a cluster. */
  bytes: number | null;
}

/** Checks Redis. Read-only. */
export async function redisStatus(url: string): Promise<RedisStatus> {
  try {
    const info = await withRedis(url, (redis) => redis.info());
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? null;
    const bytes = /^used_memory:(\d+)/m.exec(info)?.[1];
    return { answers: true, version, bytes: bytes === undefined ? null : Number(bytes) };
  } catch {
    return { answers: false, version: null, bytes: null };
  }
}
