import type { Cluster, Redis } from 'ioredis';
import { type Decision, decisionAfter, type Outcome, type Standing, standingOf } from '../rules/decision';
import type { QuotaRecords } from './quota-records';
import { argumentsOf, keysOf, QUOTA_SCRIPT, type Reply, type StateAfter, toState } from './quota-script';
import type { Receipt, Subject } from './quota-store';

/** Redis did not answer in time, or returned an error. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

type Script = (...keysAndArguments: (string | number)[]) => Promise<Reply>;

/** One name for each number of keys: ioredis then knows the first key, and with it the node of a cluster. */
type WithScripts = Record<'stepOfAddress' | 'stepOfClient', Script>;

/** Counts in Redis, so that all instances share the limits. The calls of one turn of the event loop are sent together. */
export class RedisQuotaStore {
  private readonly redis: WithScripts;

  constructor(
    client: Redis | Cluster,
    private readonly records: QuotaRecords,
  ) {
    client.defineCommand('stepOfAddress', { numberOfKeys: 1, lua: QUOTA_SCRIPT });
    client.defineCommand('stepOfClient', { numberOfKeys: 2, lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScripts;
  }

  async take(subject: Subject): Promise<Decision> {
    const state = await this.run(subject, 'take');
    const { outcome, exhausted, isNewlyBanned, windows, bans, now } = state;
    if (subject.kind === 'client' && outcome === 'allowed') {
      this.records.count(subject.clientId, windows, 1);
    } else if (subject.kind === 'client' && isNewlyBanned) {
      this.records.saveBan(subject.keyId, bans!, now);
    }
    return decisionAfter(outcome as Outcome, exhausted, isNewlyBanned, state);
  }

  async refund(subject: Subject, { takenAt }: Receipt): Promise<Standing> {
    const state = await this.run(subject, 'refund', takenAt);
    if (subject.kind === 'client' && state.outcome === 'refunded') {
      this.records.count(subject.clientId, state.windows, -1);
    }
    return standingOf(state);
  }

  async look(subject: Subject): Promise<Standing> {
    return standingOf(await this.run(subject, 'look'));
  }

  private async run(subject: Subject, step: 'take' | 'refund' | 'look', takenAt = 0): Promise<StateAfter> {
    let reply = await this.call(subject, argumentsOf(subject, step, takenAt));
    if (reply[0] === 'unknown' && subject.kind === 'client') {
      const usage = await this.records.usageOf(subject.clientId);
      reply = await this.call(subject, argumentsOf(subject, step, takenAt, usage));
    }
    return toState(reply as Exclude<Reply, ['unknown']>, subject);
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
