import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#libs/clock';
import type { WindowState } from '../rules/limits';
import { type Decision, decisionAfter, type Outcome, type Standing, standingOf } from '../rules/decision';
import type { QuotaRecords } from './quota-records';
import { argumentsOf, keysOf, type Reply, type StateAfter, type StateReply, toState } from './quota-script';
import type { Taken, Subject } from './quota-store';
import type { RedisConnection } from './redis-connection';

/** Redis did not answer in time, or returned an error. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

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
  /** Those of the current turn. */
  private groups = new Map<string, Group>();

  constructor(
    private readonly redis: Pick<RedisConnection, 'run'>,
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Is told what Redis has counted. */
    private readonly onCounted: (subject: Subject, windows: WindowState) => void = () => undefined,
  ) {}

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
    const decision = decisionAfter(outcome as Outcome, exhausted, isNewlyBanned, state);
    // On the clock of Redis, so that a refund is for the window that it was taken from, to the millisecond.
    if (outcome === 'allowed') decision.takenAt += state.aheadMs;
    return decision;
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
    if (reply[0] === 'one by one') return null;
    const state = toState(reply as StateReply, subject, this.clock.now());
    this.onCounted(subject, state.windows);
    return state;
  }

  private async call(subject: Subject, values: (string | number)[]): Promise<Reply> {
    try {
      return (await this.redis.run(keysOf(subject), [this.clock.now(), ...values])) as Reply;
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
