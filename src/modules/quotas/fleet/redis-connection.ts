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
