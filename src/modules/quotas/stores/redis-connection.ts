import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { BanState } from '../rules/ban-rules';
import type { WindowState } from '../rules/rate-window';
import {
  BAN_FIELDS,
  WINDOW_FIELDS,
  bansFrom,
  keysOfClient,
  windowsFrom,
  windowsOfClient,
} from './quota-script';

const OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  // Requests must not wait for a reconnect; the circuit breaker probes in the background.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
};

/** Several comma-separated addresses are the nodes of a cluster. */
export function connectRedis(url: string): Redis | Cluster {
  const urls = url.split(',').map((part) => part.trim());
  if (urls.length === 1) {
    return new Redis(urls[0]!, OPTIONS);
  }
  const { username, password, protocol } = new URL(urls[0]!);
  const { enableOfflineQueue, retryStrategy, ...redisOptions } = OPTIONS;
  const credentials = {
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
  return new Cluster(urls, {
    enableOfflineQueue,
    clusterRetryStrategy: (attempt) => retryStrategy!(attempt) as number,
    redisOptions: { ...redisOptions, ...credentials },
  });
}

/** After this, commands do without Redis. */
const TIMEOUT_MS = 2_000;

/**
 * Runs the work of a command on a connection of its own.
 * @throws Error if Redis does not answer in time
 */
export async function withRedis<Result>(
  url: string,
  work: (redis: Redis | Cluster) => Promise<Result>,
): Promise<Result> {
  const redis = connectRedis(url);
  redis.on('error', () => undefined);
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return await withinBudget(work(redis), TIMEOUT_MS);
  } finally {
    redis.disconnect();
  }
}

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

/** No response within the time budget. */
export class BudgetExceededError extends Error {
  constructor(budgetMs: number) {
    super(`no response within ${budgetMs} ms`);
  }
}

/**
 * Rejects if the response takes longer than the budget. Time in which this process itself was busy does not count: the
 * timer starts when the request has been sent, and pending input is read once more before giving up.
 * @param onLate called with a response that arrives after the timeout
 */
export function withinBudget<Answer>(
  answer: Promise<Answer>,
  budgetMs: number,
  onLate?: (answer: Answer) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = (): void => {
      isLate = true;
      reject(new BudgetExceededError(budgetMs));
    };
    let timer: NodeJS.Timeout | undefined;
    const sent = setImmediate(() => {
      timer = setTimeout(() => setImmediate(giveUp), budgetMs);
    });
    const stop = (): void => {
      clearImmediate(sent);
      clearTimeout(timer);
    };
    answer.then(
      (value) => {
        stop();
        if (isLate) {
          onLate?.(value);
        }
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error as Error);
      },
    );
  });
}
