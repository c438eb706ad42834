import { Cluster, type Redis } from 'ioredis';
import { QUOTA_SCRIPT } from './quota-script';
import type { Reply } from './redis-state';
import { withinBudget } from './within-budget';

/** How time decides about counting in Redis. */
export interface RedisTiming {
  /** How long one answer may take, in milliseconds. Past it the request goes on without Redis. */
  budgetMs: number;
  /** Unix milliseconds that the script counts by; null for Redis's own clock, the one that all instances share. */
  now: (() => number) | null;
}

export const REDIS_TIMING: RedisTiming = { budgetMs: 50, now: null };
/** So few that Redis, which does one thing at a time, is soon free for others. */
const STEPS_PER_CALL = 100;

/** Redis did not answer, not in time, or not with what was asked for. */
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
  /** Empty when the database was not asked. */
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

/** Runs the steps that one turn of the event loop has brought in one call of the script: a call costs more than a step. */
export class ScriptCalls {
  private readonly redis: WithScript;
  private readonly isCluster: boolean;
  private waiting: WaitingStep[] = [];

  constructor(
    client: Redis | Cluster,
    private readonly timing: RedisTiming = REDIS_TIMING,
  ) {
    client.defineCommand('quota', { lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScript;
    this.isCluster = client instanceof Cluster;
  }

  /**
   * What the script answers to this step; rejects with RedisUnavailableError.
   * @param onLate told of an answer that comes after it was given up
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
      const inTime = await withinBudget(replies, this.timing.budgetMs, (late) => {
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
    const values: (string | number)[] = [this.timing.now?.() ?? ''];
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

/** A cluster takes only what lies on one of its nodes, and that is certain of one subject's keys alone. */
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
