import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { SENTINEL_URL, currentSecret } from '../../../settings';

const OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  // Requests must not wait for a reconnect; FleetQuotaStore probes in the background.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
};

const retryMs = (attempt: number): number => Math.min(50 * attempt, 1_000);

/** The last error of each connection, until it is ready again. */
const errors = new WeakMap<object, Error>();

/** Several comma-separated addresses are the nodes of a cluster. Each reconnect takes the password that the URL's file has then. */
export function connectRedis(url: string): Redis | Cluster {
  const client = openClient(url);
  // Without listeners, ioredis prints every error with its stack.
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    // What the Sentinels answered has been noted already.
    if (!error.message.startsWith('All sentinels are unreachable')) {
      errors.set(client, error.lastNodeError ?? error);
    }
  });
  client.on('sentinelError', (error: Error) => errors.set(client, error));
  client.on('ready', () => errors.delete(client));
  return client;
}

function openClient(url: string): Redis | Cluster {
  const urls = url.split(',').map((part) => part.trim());
  const sentinels = SENTINEL_URL.exec(url)?.groups;
  if (sentinels === undefined && urls.length > 1) {
    const { enableOfflineQueue, ...redisOptions } = OPTIONS;
    const options = { ...redisOptions, ...accessIn(urls[0]!) };
    const clusterRetryStrategy = (attempt: number): number => {
      Object.assign(options, accessIn(currentSecret('REDIS_URL', url).split(',')[0]!));
      return retryMs(attempt);
    };
    return new Cluster(urls, { enableOfflineQueue, clusterRetryStrategy, redisOptions: options });
  }
  const retryStrategy = (attempt: number): number => {
    Object.assign(client.options, accessIn(currentSecret('REDIS_URL', url)));
    return retryMs(attempt);
  };
  const options = { ...OPTIONS, retryStrategy };
  const client =
    sentinels === undefined
      ? new Redis(url, options)
      : new Redis({ ...options, ...accessIn(url), ...sentinelOptions(sentinels) });
  return client;
}

/** User, password and TLS. ioredis reads them only from the URL of a single server, and only once. */
function accessIn(url: string): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const [, scheme = '', credentials] = /^(\w+)(?:\+sentinel)?:\/\/(?:([^@/]*)@)?/.exec(url)!;
  const [username = '', password = ''] = (credentials ?? '').split(':').map(decodeURIComponent);
  return {
    ...(username && { username }),
    ...(password && { password }),
    ...(scheme === 'rediss' && { tls: {} }),
  };
}

/** What opens connections to Sentinels; ioredis does not declare it for subclasses. */
const Connector = SentinelConnector as unknown as new (options: unknown) => {
  connectToSentinel(address: unknown, options?: RedisOptions): Redis;
};

/** Without listeners, ioredis prints the errors of Sentinels with their stacks; here `sentinelError` reports them. */
class QuietSentinelConnector extends Connector {
  override connectToSentinel(address: unknown, options?: RedisOptions): Redis {
    // After a connection that was refused, ioredis would wait this long for its end, and keep the process alive.
    const atOnce = { ...options, disconnectTimeout: 0 };
    return super.connectToSentinel(address, atOnce).on('error', () => undefined);
  }
}

function sentinelOptions({ hosts, name, sentinelPassword, tls }: Record<string, string>): RedisOptions {
  return {
    sentinels: hosts!.split(',').map((entry) => {
      const { hostname: host, port } = new URL(`redis://${entry}`);
      return { host, port: Number(port || 26_379) };
    }),
    name,
    Connector: QuietSentinelConnector as unknown as RedisOptions['Connector'],
    // A primary that is cut off closes no connection: the Sentinels tell of its successor.
    failoverDetector: true,
    ...(sentinelPassword && { sentinelPassword: decodeURIComponent(sentinelPassword) }),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

/** Failures that last until an operator changes something, by the messages of Redis, TLS and ioredis. */
const REFUSALS: readonly [message: RegExp, reason: string][] = [
  [/WRONGPASS|NOAUTH|invalid password|without any password/, 'it refuses the user or password of REDIS_URL'],
  [/NOPERM/, 'the user of REDIS_URL lacks a permission'],
  [
    /certificate|altnames/i,
    'its certificate is not trusted (NODE_EXTRA_CA_CERTS names the file of a private authority)',
  ],
  [/No such master|but got an invalid reply/, 'its Sentinels do not know the name at the end of REDIS_URL'],
];

/** Why Redis cannot be used, in one line; `lasting` if it will not pass by itself. */
export interface RedisFailure {
  reason: string;
  lasting: boolean;
}

/** @param error the failure of a call; the one of the connection itself explains more, if there is one */
export function explainRedis(client: Redis | Cluster, error?: unknown): RedisFailure {
  const { message = 'no answer' } = errors.get(client) ?? (error as Error | undefined) ?? {};
  const [, reason] = REFUSALS.find(([pattern]) => pattern.test(message)) ?? [];
  return reason === undefined
    ? { reason: message, lasting: false }
    : { reason: `${reason}: ${message}`, lasting: true };
}

/** The eviction policy, if counters may be lost to it; of one node of a cluster. */
export async function evictionPolicyOf(client: Redis | Cluster): Promise<string | undefined> {
  const [, policy] = /^maxmemory_policy:(\S+)/m.exec(await client.info('memory')) ?? [];
  return policy === 'noeviction' ? undefined : policy;
}

/** After this, commands do without Redis. */
const TIMEOUT_MS = 2_000;

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
  const redis = connectRedis(url);
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const info = await withinBudget(redis.info(), TIMEOUT_MS);
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? null;
    const bytes = /^used_memory:(\d+)/m.exec(info)?.[1];
    return { answers: true, reason: null, version, bytes: bytes === undefined ? null : Number(bytes) };
  } catch (error) {
    return { answers: false, reason: explainRedis(redis, error).reason, version: null, bytes: null };
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
