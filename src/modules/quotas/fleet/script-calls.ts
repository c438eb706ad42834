import { Cluster, type Redis } from 'ioredis';
import { QUOTA_SCRIPT } from './quota-script';
import type { Reply } from './redis-state';
import { withinBudget } from './within-budget';

/** Timeout of one call. After it the request is decided without Redis. */
export const REDIS_BUDGET_MS = 50;
/** Limited, because Redis is single-threaded. */
const STEPS_PER_CALL = 100;

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
  remembered: readonly (string | number)[];
}

interface WaitingStep {
  step: ScriptStep;
  resolve: (reply: Reply) => void;
  reject: (error: RedisUnavailableError) => void;
  onLate: ((reply: Reply) => void) | undefined;
}

interface WithScript {
  quota(...args: (string | number)[]): Promise<Reply[]>;
}

/** Batches all steps of one turn of the event loop into one call of the script, because a call costs more than a step. */
export class ScriptCalls {
  private readonly redis: WithScript;
  private readonly isCluster: boolean;
  private waiting: WaitingStep[] = [];

  constructor(
    client: Redis | Cluster,
    private readonly budgetMs = REDIS_BUDGET_MS,
  ) {
    client.defineCommand('quota', { lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScript;
    this.isCluster = client instanceof Cluster;
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
      const replies = this.redis.quota(...this.argumentsFor(waiting));
      const inTime = await withinBudget(replies, this.budgetMs, (late) => {
        waiting.forEach(({ onLate }, index) => onLate?.(late[index]!));
      });
      waiting.forEach((one, index) => settle(one, inTime[index]!));
    } catch (error) {
      const unavailable = new RedisUnavailableError(error);
      waiting.forEach(({ reject }) => reject(unavailable));
    }
  }

  private argumentsFor(waiting: WaitingStep[]): (string | number)[] {
    const keys: string[] = [];
    const values: (string | number)[] = [];
    for (const { step } of waiting) {
      keys.push(...step.keys);
      values.push(step.name, step.keys.length, step.perMinute, step.perDay, step.takenAt);
      values.push(step.remembered.length, ...step.remembered);
    }
    return [keys.length, ...keys, ...values];
  }
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
