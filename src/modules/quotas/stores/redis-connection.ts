import { Cluster, Redis, type RedisOptions } from 'ioredis';

const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  // Requests must not wait for a connection: meanwhile the instance counts alone.
  enableOfflineQueue: false,
} as const;
const NODE_OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  commandTimeout: 200,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
};

const retryMs = (attempt: number): number => Math.min(50 * attempt, 1_000);

/** The last error of each connection, until it is ready again. */
const errors = new WeakMap<object, Error>();

/** Does not connect yet. Several comma-separated addresses are the nodes of a cluster. */
export function redisClient(url: string): Redis | Cluster {
  const client = clientOf(url.split(','));
  // Without a listener, ioredis prints every error with its stack.
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    errors.set(client, error.lastNodeError ?? error);
  });
  client.on('ready', () => errors.delete(client));
  return client;
}

function clientOf(urls: string[]): Redis | Cluster {
  const [first] = urls as [string];
  if (urls.length === 1) {
    return new Redis(first, { ...OPTIONS, ...NODE_OPTIONS, retryStrategy: retryMs });
  }
  // ioredis takes these from the URL of a single server only.
  const { protocol, username, password } = new URL(first);
  const redisOptions: RedisOptions = {
    ...NODE_OPTIONS,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
  return new Cluster(urls, { ...OPTIONS, redisOptions, clusterRetryStrategy: retryMs });
}

/** Why Redis cannot be used. What the connection reported explains more than the failure of a call. */
export function reasonOf(client: Redis | Cluster, error: unknown): string {
  return (errors.get(client) ?? (error as Error)).message;
}

export interface RedisStatus {
  answers: boolean;
  /** Why it does not answer. */
  reason: string | null;
  version: string | null;
  /** Of one node of a cluster. */
  bytes: number | null;
}

/** Checks Redis for a command, on a connection of its own. */
export async function redisStatus(url: string): Promise<RedisStatus> {
  const redis = redisClient(url);
  try {
    await redis.connect();
    const info = await redis.info();
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? null;
    const bytes = Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
    return { answers: true, reason: null, version, bytes };
  } catch (error) {
    return { answers: false, reason: reasonOf(redis, error), version: null, bytes: null };
  } finally {
    redis.disconnect();
  }
}
