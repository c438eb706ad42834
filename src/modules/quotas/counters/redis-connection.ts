import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** Timeout of a command, unless the URL sets `commandTimeout`. After the timeout, the request is counted in memory. */
const COMMAND_TIMEOUT_MS = 200;
/**
 * Number of short timers that make up the timeout, one after the other. While the event loop is blocked, answers from
 * Redis arrive unread. After the block, Node runs the timers that are due before Node reads answers. A single timer for
 * the whole timeout could therefore reject a command whose answer has arrived. Of several timers, at most one is due
 * after the block, and Node reads the answers before the next timer is due.
 */
const TIMERS = 4;

const NODE_OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  disconnectTimeout: 100,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Skip the ready check, because this check calls INFO. If the Redis user has no permission for INFO, ioredis would
  // print an error.
  enableReadyCheck: false,
  disableClientInfo: true,
  // Do not let ioredis reconnect automatically, because the method `open` reconnects.
  retryStrategy: () => null,
};
const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  enableReadyCheck: false,
  // Let commands fail at once if there is no connection. The request is then counted in memory and does not have to wait.
  enableOfflineQueue: false,
} as const;

type RedisOrCluster = Redis | Cluster;
/** The script is defined as a command with two keys, so that ioredis finds the node of a cluster that holds these keys. */
type Scripted = RedisOrCluster & {
  runScript: (first: string, second: string, argument: string) => Promise<unknown>;
};

/** A connection to Redis that runs one Lua script. */
export class RedisConnection {
  /** Called after each new connection to Redis, because Redis may have restarted and lost counts. */
  onConnect: () => void = () => undefined;
  private connection: Promise<Scripted> | null = null;
  private isCluster: boolean;
  private readonly timeoutMs: number;
  private deadline: Promise<never> | null = null;

  constructor(
    private readonly url: string,
    private readonly script: string,
  ) {
    this.isCluster = url.includes(',');
    const timeout = new URL(url.split(',')[0]!).searchParams.get('commandTimeout');
    this.timeoutMs = timeout === null ? COMMAND_TIMEOUT_MS : Number(timeout);
  }

  async open(): Promise<void> {
    const redis = await (this.connection ??= this.connect());
    if (redis instanceof Cluster) {
      await this.inTime(Promise.all(redis.nodes('master').map((node) => node.ping())));
    }
  }

  close(): void {
    void this.connection?.then((redis) => redis.disconnect()).catch(() => undefined);
    this.connection = null;
  }

  async run(keys: [string, string], argument: string): Promise<unknown> {
    const { connection } = this;
    if (connection === null) throw new Error('There is no connection');
    const redis = await connection;
    try {
      return await this.inTime(redis.runScript(...keys, argument));
    } catch (error) {
      if (redis instanceof Cluster || !(error as Error).message.startsWith('MOVED ')) throw error;
      // The error MOVED means that this server is one node of a cluster, so run the command on a connection to the
      // whole cluster. If `this.connection` has changed in the meantime, another command with this error has already
      // connected to the cluster.
      if (this.connection === connection) {
        this.isCluster = true;
        this.connection = this.connect();
        // Disconnect later, because other requests may still wait for answers on the old connection.
        setTimeout(() => redis.disconnect(), this.timeoutMs).unref();
      }
      return this.run(keys, argument);
    }
  }

  private connect(): Promise<Scripted> {
    const redis = newRedis(this.url, this.isCluster) as Scripted;
    redis.defineCommand('runScript', { numberOfKeys: 2, lua: this.script });
    const connection = connected(redis).then(async () => {
      await this.inTime(selectDatabase(redis));
      this.onConnect();
      return redis;
    });
    // Treat a new node of the cluster like a new connection, because the node may have lost counts.
    redis.on('+node', () => this.onConnect());
    const forget = () => {
      redis.disconnect();
      if (this.connection === connection) this.connection = null;
    };
    redis.once('end', forget);
    connection.catch(forget);
    return connection;
  }

  /**
   * Returns the result of a command. Rejects if Redis does not answer before the timeout. If Redis has answered in
   * time, but the event loop was blocked, does not reject.
   */
  private inTime<Result>(command: Promise<Result>): Promise<Result> {
    this.deadline ??= this.startDeadline();
    return Promise.race([command, this.deadline]);
  }

  /**
   * Waits for one short timer and then for the timeout, which consists of TIMERS short timers, and rejects. All
   * commands that start during the first short timer share this deadline, because timers for each command would be
   * slow. Even the last of these commands has the whole timeout.
   */
  private async startDeadline(): Promise<never> {
    const shortTimer = () => pause(this.timeoutMs / TIMERS, undefined, { ref: false });
    await shortTimer();
    this.deadline = null;
    for (let timer = 0; timer < TIMERS; timer += 1) {
      await shortTimer();
    }
    throw new Error('Command timed out');
  }
}

function newRedis(url: string, isCluster = url.includes(',')): RedisOrCluster {
  const [first, ...others] = url.split(',');
  const addresses = [first!, ...others].map((one) => one.split('?', 1)[0]!);
  if (!isCluster) {
    return new Redis(addresses[0]!, { ...OPTIONS, ...NODE_OPTIONS });
  }
  // Pass TLS, user and password as options, because ioredis ignores these parts of a cluster's URL.
  const { protocol, username, password } = new URL(first!);
  const redisOptions: RedisOptions = {
    ...NODE_OPTIONS,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
  return new Cluster(addresses, {
    ...OPTIONS,
    redisOptions,
    // Connect to nodes by name instead of IP address, because TLS certificates are issued for names.
    dnsLookup: (host, callback) => callback(null, host),
    clusterRetryStrategy: () => null,
  });
}

/**
 * Connects to Redis. If the connection fails, rejects with the error of the event `error`, because that error says more
 * about the reason than the error of `connect`.
 */
async function connected(redis: RedisOrCluster): Promise<RedisOrCluster> {
  let reported: Error | undefined;
  redis.on('error', (error: Error & { lastNodeError?: Error }) => {
    reported = error.lastNodeError ?? error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw reported ?? error;
  }
}

/** Selects the database that the URL names. If this fails, rejects, because ioredis itself would continue with database 0. */
async function selectDatabase(redis: RedisOrCluster): Promise<void> {
  if (redis instanceof Redis && redis.options.db) {
    await redis.select(redis.options.db);
  }
}

/** Checks Redis for the `status` command. `bytes` is the memory that Redis uses; in a cluster, the memory of one node. */
export async function redisStatus(url: string) {
  let redis: RedisOrCluster | undefined;
  try {
    redis = await connected(newRedis(url));
    await selectDatabase(redis);
    await redis.ping();
    // Ask for version and memory, which only this status shows. Ignore an error of INFO, because the Redis user may have no
    // permission for this command.
    const info = await redis.info().catch(() => '');
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? null;
    const bytes = /^used_memory:(\d+)/m.exec(info)?.[1];
    return { answers: true, reason: null, version, bytes: bytes === undefined ? null : Number(bytes) };
  } catch (error) {
    return { answers: false, reason: (error as Error).message, version: null, bytes: null };
  } finally {
    redis?.disconnect();
  }
}
