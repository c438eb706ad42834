import { setImmediate } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type Decision, decisionAfter, type Outcome, type Standing, standingOf } from '../rules/decision';
import type { QuotaRecords } from './quota-records';
import {
  argumentsOf,
  keysOf,
  QUOTA_SCRIPT,
  type Reply,
  type StateAfter,
  type StateReply,
  toState,
} from './quota-script';
import type { Taken, Subject } from './quota-store';

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

/** Checks Redis for a command, on a connection of its own. `bytes` is that of one node of a cluster. */
export async function redisStatus(url: string) {
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

/** Redis did not answer in time, or returned an error. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

type Script = (...keysAndArguments: (string | number)[]) => Promise<Reply>;

/** One name for each number of keys: ioredis then knows the first key, and with it the node of a cluster. */
type WithScripts = Record<'stepOfAddress' | 'stepOfClient', Script>;

/** Requests of one turn of the event loop that count alike: by the same limits, with the same key or from the same address. */
interface Group {
  size: number;
  /** After the last of them; null if not all of them are allowed. */
  taken: Promise<StateAfter | null>;
}

/**
 * Counts in Redis, so that all instances share the limits. The calls of one turn of the event loop are sent together, and
 * requests that count alike are one call if all of them are allowed.
 */
export class RedisQuotaStore {
  private readonly redis: WithScripts;
  /** Those of the current turn. */
  private groups = new Map<string, Group>();

  constructor(
    client: Redis | Cluster,
    private readonly records: QuotaRecords,
  ) {
    client.defineCommand('stepOfAddress', { numberOfKeys: 1, lua: QUOTA_SCRIPT });
    client.defineCommand('stepOfClient', { numberOfKeys: 2, lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScripts;
  }

  async take(subject: Subject): Promise<Decision> {
    const group = this.groupOf(subject);
    group.size += 1;
    const place = group.size;
    const together = await group.taken;
    const state =
      together === null
        ? (await this.run(subject, 'take', 1))!
        : before(together, group.size - place, subject.limits.perDay !== null);
    const { outcome, exhausted, isNewlyBanned, windows, bans, now } = state;
    if (subject.kind === 'client' && outcome === 'allowed') {
      this.records.count(subject.clientId, windows, 1);
    } else if (subject.kind === 'client' && isNewlyBanned) {
      this.records.saveBan(subject.keyId, bans!, now);
    }
    return decisionAfter(outcome as Outcome, exhausted, isNewlyBanned, state);
  }

  async refund(subject: Subject, { takenAt }: Taken): Promise<Standing> {
    const state = (await this.run(subject, 'refund', takenAt))!;
    if (subject.kind === 'client') {
      this.records.count(subject.clientId, state.windows, state.outcome === 'refunded' ? -1 : 0);
    }
    return standingOf(state);
  }

  async look(subject: Subject): Promise<Standing> {
    return standingOf((await this.run(subject, 'look', 0))!);
  }

  private groupOf(subject: Subject): Group {
    const id = [...keysOf(subject), ...argumentsOf(subject, 'take', 1)].join(' ');
    const known = this.groups.get(id);
    if (known !== undefined) {
      return known;
    }
    const group: Group = {
      size: 0,
      taken: this.endOfTurn().then(() => this.run(subject, 'take', group.size)),
    };
    this.groups.set(id, group);
    return group;
  }

  private async endOfTurn(): Promise<void> {
    await setImmediate();
    this.groups = new Map();
  }

  /** @returns null if several requests are not all allowed */
  private async run(
    subject: Subject,
    step: 'take' | 'refund' | 'look',
    given: number,
  ): Promise<StateAfter | null> {
    let reply = await this.call(subject, argumentsOf(subject, step, given));
    if (reply[0] === 'unknown' && subject.kind === 'client') {
      const usage = await this.records.usageOf(subject.clientId);
      reply = await this.call(subject, argumentsOf(subject, step, given, usage));
    }
    return reply[0] === 'one by one' ? null : toState(reply as StateReply, subject);
  }

  private async call(subject: Subject, values: (string | number)[]): Promise<Reply> {
    const name = subject.kind === 'client' ? 'stepOfClient' : 'stepOfAddress';
    try {
      return await this.redis[name](...keysOf(subject), ...values);
    } catch (error) {
      throw new RedisUnavailableError(error);
    }
  }
}

/** The state before the last requests of a group. */
function before(state: StateAfter, last: number, countsDays: boolean): StateAfter {
  const { minuteCount, dayCount } = state.windows;
  const windows = {
    ...state.windows,
    minuteCount: minuteCount - last,
    dayCount: countsDays ? dayCount - last : dayCount,
  };
  return { ...state, windows };
}
