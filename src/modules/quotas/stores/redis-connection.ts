import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { QUOTA_SCRIPT } from './quota-script';

/** How long a command may take, unless the URL sets `commandTimeout`. A request waits this long, and is then counted locally. */
const COMMAND_TIMEOUT_MS = 200;
/**
 * The timeout is divided into this many short timers, one after the other. If the event loop was blocked, answers that have
 * arrived are therefore read before the command times out.
 */
const TIMERS = 4;

const NODE_OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  disconnectTimeout: 100,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The ready check calls INFO, which not every Redis user may call, and ioredis would print the refusal.
  enableReadyCheck: false,
  disableClientInfo: true,
  // ioredis must not reconnect by itself, because `open` reconnects.
  retryStrategy: () => null,
};
const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  enableReadyCheck: false,
  // Without a connection, commands fail at once instead of making requests wait: the instance then counts alone.
  enableOfflineQueue: false,
} as const;

type Client = Redis | Cluster;
/** A connection with the quota script as a command: ioredis then knows its keys, and so the right node of a cluster. */
type Scripted = Client & { quotaStep: (first: string, second: string, argument: string) => Promise<unknown> };

/** Runs the quota script in Redis. A URL with one or more nodes of a cluster means the whole cluster. */
export class RedisConnection {
  /** Called after each new connection, because Redis may have lost counts in the meantime. */
  onConnect: () => void = () => undefined;
  private connection: Promise<Scripted> | null = null;
  private isCluster: boolean;
  private readonly timeoutMs: number;
  private deadline: Promise<never> | null = null;

  constructor(private readonly url: string) {
    this.isCluster = url.includes(',');
    const timeout = new URL(url.split(',')[0]!).searchParams.get('commandTimeout');
    this.timeoutMs = timeout === null ? COMMAND_TIMEOUT_MS : Number(timeout);
  }

  async open(): Promise<void> {
    const client = await (this.connection ??= this.connect());
    if (client instanceof Cluster) {
      await this.inTime(Promise.all(client.nodes('master').map((node) => node.ping())));
    }
  }

  close(): void {
    void this.connection?.then((client) => client.disconnect()).catch(() => undefined);
    this.connection = null;
  }

  async run(keys: [string, string], argument: string): Promise<unknown> {
    const { connection } = this;
    if (connection === null) throw new Error('There is no connection');
    const client = await connection;
    try {
      return await this.inTime(client.quotaStep(...keys, argument));
    } catch (error) {
      if (client instanceof Cluster || !(error as Error).message.startsWith('MOVED ')) throw error;
      // MOVED means that the URL names a node of a cluster, so connect to the whole cluster.
      if (this.connection === connection) {
        this.isCluster = true;
        this.connection = this.connect();
        // Disconnect from the single node later, because other requests may still wait for its answers.
        setTimeout(() => client.disconnect(), this.timeoutMs).unref();
      }
      return this.run(keys, argument);
    }
  }

  private connect(): Promise<Scripted> {
    const client = clientOf(this.url, this.isCluster) as Scripted;
    client.defineCommand('quotaStep', { numberOfKeys: 2, lua: QUOTA_SCRIPT });
    const connection = connected(client).then(async () => {
      await this.inTime(selectDatabase(client));
      this.onConnect();
      return client;
    });
    // A node that has joined the cluster, or was unavailable, may have lost counts.
    client.on('+node', () => this.onConnect());
    const forget = () => {
      client.disconnect();
      if (this.connection === connection) this.connection = null;
    };
    client.once('end', forget);
    connection.catch(forget);
    return connection;
  }

  /** Rejects if Redis takes too long to answer the command. A blocked event loop alone does not time out. */
  private inTime<Result>(command: Promise<Result>): Promise<Result> {
    this.deadline ??= this.startDeadline();
    return Promise.race([command, this.deadline]);
  }

  /** Rejects after the timeout. Commands that begin together share the timers, because timers for each command are slower. */
  private async startDeadline(): Promise<never> {
    for (let step = 0; step <= TIMERS; step += 1) {
      await pause(this.timeoutMs / TIMERS, undefined, { ref: false });
      if (step === 0) this.deadline = null;
    }
    throw new Error('Command timed out');
  }
}

function clientOf(url: string, isCluster = url.includes(',')): Client {
  if (!isCluster) {
    return new Redis(url, { ...OPTIONS, ...NODE_OPTIONS });
  }
  const urls = url.split(',');
  // For a cluster, ioredis ignores TLS, user and password in the URL, so these are passed as options.
  const { protocol, username, password } = new URL(urls[0]!);
  const redisOptions: RedisOptions = {
    ...NODE_OPTIONS,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
  return new Cluster(urls, {
    ...OPTIONS,
    redisOptions,
    // Connect to nodes by name, because a TLS certificate is issued for the name and not for the address.
    dnsLookup: (host, callback) => callback(null, host),
    clusterRetryStrategy: () => null,
  });
}

/** Connects. Rejects with the error event of the connection, which explains more than the error of `connect`. */
async function connected(client: Client): Promise<Client> {
  let reported: Error | undefined;
  // Without a listener, ioredis prints every error with its stack.
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    reported = error.lastNodeError ?? error;
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.disconnect();
    throw reported ?? error;
  }
}

/** Selects the database in the URL, and rejects if Redis refuses. By itself, ioredis would then use database 0. */
async function selectDatabase(client: Client): Promise<void> {
  if (client instanceof Redis && client.options.db) {
    await client.select(client.options.db);
  }
}

/** Checks Redis for the `status` command. `bytes` is the memory that Redis uses; in a cluster, the memory of one node. */
export async function redisStatus(url: string) {
  let redis: Client | undefined;
  try {
    redis = await connected(clientOf(url));
    await selectDatabase(redis);
    await redis.ping();
    // If this Redis user may not call INFO, report no version and memory: the service works without INFO.
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
