import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { QUOTA_SCRIPT } from './quota-script';

/** How long a command may take; `commandTimeout` in the URL is another time. Requests wait for it, and are then counted locally. */
const PATIENCE_MS = 200;
/** The patience ends in steps, so that an event loop that was busy reads what has arrived before the next one. */
const STEPS = 4;

const NODE_OPTIONS: RedisOptions = {
  connectTimeout: 2_000,
  disconnectTimeout: 100,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // It asks for INFO, which not every user may call, and prints that.
  enableReadyCheck: false,
  disableClientInfo: true,
  // `open` connects again.
  retryStrategy: () => null,
};
const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  enableReadyCheck: false,
  // Requests must not wait for a connection: meanwhile the instance counts alone.
  enableOfflineQueue: false,
} as const;

type Client = Redis | Cluster;
/** The script as a command of its own, for which ioredis knows the first key, and with it the node of a cluster. */
type Scripted = Client & { quotaStep: (first: string, second: string, argument: string) => Promise<unknown> };

/** Runs the script of a step in Redis. A URL of one node of a cluster, or of several, means the cluster. */
export class RedisConnection {
  /** Called at each new connection, which may lead to a Redis that has lost counts. */
  onConnect: () => void = () => undefined;
  private connection: Promise<Scripted> | null = null;
  private isCluster: boolean;
  private readonly patienceMs: number;
  private deadline: Promise<never> | null = null;

  constructor(private readonly url: string) {
    this.isCluster = url.includes(',');
    const patience = new URL(url.split(',')[0]!).searchParams.get('commandTimeout');
    this.patienceMs = patience === null ? PATIENCE_MS : Number(patience);
  }

  /** Connects, unless it is connected. Rejects if that is impossible, or if a node of the cluster does not answer. */
  async open(): Promise<void> {
    const client = await (this.connection ??= this.connect());
    if (client instanceof Cluster) {
      await this.inTime(Promise.all(client.nodes('master').map((node) => node.ping())));
    }
  }

  /** Closes the connection, healthy or not; the next `open` makes another one. */
  close(): void {
    void this.connection?.then((client) => client.disconnect()).catch(() => undefined);
    this.connection = null;
  }

  /** Runs the script. Rejects if Redis returns an error, or does not answer in time. */
  async run(keys: [string, string], argument: string): Promise<unknown> {
    const { connection } = this;
    if (connection === null) throw new Error('There is no connection');
    const client = await connection;
    try {
      return await this.inTime(client.quotaStep(...keys, argument));
    } catch (error) {
      if (client instanceof Cluster || !(error as Error).message.startsWith('MOVED ')) throw error;
      // What the URL names is a node of a cluster.
      if (this.connection === connection) {
        this.isCluster = true;
        this.connection = this.connect();
        // Others wait for its answers.
        setTimeout(() => client.disconnect(), this.patienceMs).unref();
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
    // A node of a cluster that is new, or has been away.
    client.on('+node', () => this.onConnect());
    const forget = () => {
      client.disconnect();
      if (this.connection === connection) this.connection = null;
    };
    client.once('end', forget);
    connection.catch(forget);
    return connection;
  }

  /** Rejects if the command takes too long, and the event loop is not what it waits for. */
  private inTime<Result>(command: Promise<Result>): Promise<Result> {
    this.deadline ??= this.startDeadline();
    return Promise.race([command, this.deadline]);
  }

  /** One for all commands that begin within a step, because a timer for each is slower. */
  private async startDeadline(): Promise<never> {
    for (let step = 0; step <= STEPS; step += 1) {
      await pause(this.patienceMs / STEPS, undefined, { ref: false });
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
  // ioredis takes these from the URL of a single server only.
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
    // By name, because a certificate is not for an address.
    dnsLookup: (host, callback) => callback(null, host),
    clusterRetryStrategy: () => null,
  });
}

/** @throws what the connection reported, which explains more than the failure of the call */
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

/** @throws what Redis reports if it refuses the database of the URL; ioredis alone would go on in database 0 */
async function selectDatabase(client: Client): Promise<void> {
  if (client instanceof Redis && client.options.db) {
    await client.select(client.options.db);
  }
}

/** Checks Redis for a command, on a connection of its own. `bytes` is that of one node of a cluster. */
export async function redisStatus(url: string) {
  let redis: Client | undefined;
  try {
    redis = await connected(clientOf(url));
    await selectDatabase(redis);
    await redis.ping();
    // The service itself needs no right to look into it.
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
