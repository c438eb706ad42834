import { performance } from 'node:perf_hooks';
import { Cluster, type Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { QUOTA_SCRIPT, type Reply } from './quota-script';
import { withinBudget } from './redis-connection';

/** Limited, because Redis is single-threaded. */
const STEPS_PER_CALL = 100;

/** Clocks of a cluster are kept by subject, because only the cluster knows which node a subject is on. */
const MAX_CLOCKS = 10_000;
/** A timer may fire this much early. */
const EARLY_MS = 1;

/** Redis did not answer in time, or returned an error. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

/** One subject's step of QUOTA_SCRIPT, with its arguments. */
export interface ScriptStep {
  keys: readonly string[];
  name: 'take' | 'refund' | 'look' | 'ban' | 'reset' | 'mark stale';
  perMinute: number;
  /** -1 for none. */
  perDay: number;
  /** For `refund`; 0 otherwise. */
  takenAt: number;
  /** Values from the database; empty if it was not read. */
  stored: readonly (string | number)[];
}

interface WaitingStep {
  step: ScriptStep;
  resolve: (reply: Reply) => void;
  reject: (error: RedisUnavailableError) => void;
  onLate: ((reply: Reply) => void) | undefined;
}

interface WithScript {
  quota(...args: (string | number)[]): Promise<[time: number, ...replies: Reply[]]>;
}

/**
 * Batches all steps of one turn of the event loop into one call of the script, because a call costs more than a step. Each
 * call carries its deadline on the clock of Redis: a call that Redis runs after its caller gave up does nothing.
 */
export class ScriptCalls {
  private readonly redis: WithScript;
  private readonly isCluster: boolean;
  private waiting: WaitingStep[] = [];
  private readonly clocks = new LRUCache<string, RedisClock>({ max: MAX_CLOCKS });

  constructor(
    client: Redis | Cluster,
    private readonly budgetMs: number,
  ) {
    client.defineCommand('quota', { lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScript;
    this.isCluster = client instanceof Cluster;
    // Another node may have another clock.
    client.on('close', () => this.clocks.clear());
    client.on('-node', () => this.clocks.clear());
  }

  /**
   * Runs one step; rejects with RedisUnavailableError.
   * @param onLate called with a reply that arrives after the timeout
   */
  run(step: ScriptStep, onLate?: (reply: Reply) => void): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) {
        setImmediate(() => this.callForAll());
      }
      this.waiting.push({ step, resolve, reject, onLate });
    });
  }

  private callForAll(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const together of this.isCluster ? bySubject(waiting) : [waiting]) {
      for (let next = 0; next < together.length; next += STEPS_PER_CALL) {
        void this.call(together.slice(next, next + STEPS_PER_CALL));
      }
    }
  }

  private async call(waiting: WaitingStep[]): Promise<void> {
    try {
      const replies = await this.send(waiting, await this.deadlineFor(waiting));
      waiting.forEach((one, index) => settle(one, replies[index]!));
    } catch (error) {
      const unavailable = new RedisUnavailableError(error);
      waiting.forEach(({ reject }) => reject(unavailable));
    }
  }

  /** A call without a deadline has no steps: it only asks for the time. */
  private async send(waiting: WaitingStep[], deadline?: number): Promise<Reply[]> {
    const clock = this.clockOf(waiting);
    const sentAt = performance.now();
    const sent = this.redis.quota(...argumentsFor(waiting, deadline)).then(([time, ...replies]) => {
      clock.learn(sentAt, time);
      return replies;
    });
    const replies = await withinBudget(sent, this.budgetMs, (late) => {
      late.forEach((reply, index) => waiting[index]!.onLate?.(reply));
    });
    if (deadline !== undefined && replies.length < waiting.length) {
      throw new Error('Redis ran the call after its deadline');
    }
    return replies;
  }

  private async deadlineFor(waiting: WaitingStep[]): Promise<number> {
    const clock = this.clockOf(waiting);
    if (clock.in(0) === undefined) {
      await this.send(waiting);
    }
    return clock.in(this.budgetMs - EARLY_MS)!;
  }

  private clockOf([first]: WaitingStep[]): RedisClock {
    const name = this.isCluster ? first!.step.keys[0]! : '';
    let clock = this.clocks.get(name);
    if (clock === undefined) {
      clock = new RedisClock();
      this.clocks.set(name, clock);
    }
    return clock;
  }
}

function argumentsFor(waiting: WaitingStep[], deadline: number | undefined): (string | number)[] {
  const keys: string[] = [];
  const values: (string | number)[] = [];
  if (deadline === undefined) {
    keys.push(...waiting[0]!.step.keys);
  } else {
    for (const { step } of waiting) {
      keys.push(...step.keys);
      values.push(step.name, step.keys.length, step.perMinute, step.perDay, step.takenAt);
      values.push(step.stored.length, ...step.stored);
    }
  }
  return [keys.length, ...keys, deadline ?? Number.MAX_SAFE_INTEGER, ...values];
}

function settle({ resolve, reject }: WaitingStep, reply: Reply): void {
  if (reply[0] === 'failed') {
    reject(new RedisUnavailableError(new Error(reply[1])));
  } else {
    resolve(reply);
  }
}

/** In a cluster all keys of a call must be on one node, which is certain only for the keys of one subject. */
function bySubject(waiting: WaitingStep[]): Iterable<WaitingStep[]> {
  const subjects = new Map<string, WaitingStep[]>();
  for (const one of waiting) {
    const [windows = ''] = one.step.keys;
    const others = subjects.get(windows);
    if (others) {
      others.push(one);
    } else {
      subjects.set(windows, [one]);
    }
  }
  return subjects.values();
}

/**
 * The clock of a Redis node, as far as its replies prove it. Its time at a moment of this process may be behind the true one by
 * as much as a reply was on its way, but not ahead of it: so a deadline never comes too late.
 */
export class RedisClock {
  /** What to add to the monotonic clock of this process, in milliseconds; undefined until the node has replied. */
  private offset: number | undefined;

  /** The latest time of Redis that is certain to have come within this many milliseconds from now. */
  in(milliseconds: number): number | undefined {
    return this.offset === undefined ? undefined : Math.floor(performance.now() + milliseconds + this.offset);
  }

  /**
   * @param sentAt when the call was sent, on the monotonic clock of this process
   * @param time what Redis replied, in unix milliseconds
   */
  learn(sentAt: number, time: number): void {
    const lowest = time - performance.now();
    const highest = time + 1 - sentAt;
    // Outside of what this reply proves, the clock of either side was set.
    if (this.offset === undefined || this.offset < lowest || this.offset > highest) {
      this.offset = lowest;
    }
  }
}
