import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

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

export interface RedisStatus {
  answers: boolean;
  version: string | null;
  /** Of one node of a cluster. */
  bytes: number | null;
}

/** Checks Redis for a command, on a connection of its own. */
export async function redisStatus(url: string): Promise<RedisStatus> {
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
