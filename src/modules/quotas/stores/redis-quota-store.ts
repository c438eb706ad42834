import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#libs/clock';
import type { WindowState } from '../rules/limits';
import { type Decision, decisionAfter, type Outcome, type QuotaStatus, statusOf } from '../rules/decision';
import type { QuotaRecords } from './quota-records';
import { argumentsOf, keysOf, type Reply, type StateAfter, type StateReply, toState } from './quota-script';
import type { LimitedClient, Taken } from './quota-store';
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
    private readonly onCounted: (client: LimitedClient, windows: WindowState) => void = () => undefined,
  ) {}

  async take(client: LimitedClient): Promise<Decision> {
    const group = this.groupOf(client);
    group.size += 1;
    const place = group.size;
    const together = await group.taken;
    const state =
      together === null
        ? (await this.run(client, 'take', 1))!
        : before(together, group.size - place, client.limits.perDay !== null);
    const { outcome, exhausted, isNewlyBanned, windows, bans, now } = state;
    if (client.key !== null && outcome === 'allowed') {
      this.records.count(client.key.clientId, windows, 1);
    } else if (client.key !== null && isNewlyBanned) {
      this.records.saveBan(client.key.id, bans!, now);
    }
    const decision = decisionAfter(outcome as Outcome, exhausted, isNewlyBanned, state);
    // On the clock of Redis, so that a refund is for the window that it was taken from, to the millisecond.
    if (outcome === 'allowed') decision.takenAt += state.aheadMs;
    return decision;
  }

  async refund(client: LimitedClient, { takenAt }: Taken): Promise<QuotaStatus> {
    const state = (await this.run(client, 'refund', takenAt))!;
    if (client.key !== null) {
      this.records.count(client.key.clientId, state.windows, state.outcome === 'refunded' ? -1 : 0);
    }
    return statusOf(state);
  }

  async look(client: LimitedClient): Promise<QuotaStatus> {
    return statusOf((await this.run(client, 'look', 0))!);
  }

  private groupOf(client: LimitedClient): Group {
    const id = [...keysOf(client), ...argumentsOf(client, 'take', 1)].join(' ');
    const known = this.groups.get(id);
    if (known !== undefined) {
      return known;
    }
    const group: Group = {
      size: 0,
      taken: this.endOfTurn().then(() => this.run(client, 'take', group.size)),
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
    client: LimitedClient,
    step: 'take' | 'refund' | 'look',
    given: number,
  ): Promise<StateAfter | null> {
    let reply = await this.call(client, argumentsOf(client, step, given));
    if (reply[0] === 'unknown' && client.key !== null) {
      const usage = await this.records.usageOf(client.key.clientId);
      reply = await this.call(client, argumentsOf(client, step, given, usage));
    }
    if (reply[0] === 'one by one') return null;
    const state = toState(reply as StateReply, client, this.clock.now());
    this.onCounted(client, state.windows);
    return state;
  }

  private async call(client: LimitedClient, values: (string | number)[]): Promise<Reply> {
    try {
      return (await this.redis.run(keysOf(client), [this.clock.now(), ...values])) as Reply;
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
