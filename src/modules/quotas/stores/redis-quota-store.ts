import type { Clock } from '#libs/clock';
import type { WindowState } from '../rules/limits';
import { type Decision, decisionAfter, type Outcome, type QuotaStatus, statusOf } from '../rules/decision';
import type { QuotaRecords } from './quota-records';
import {
  scriptArguments,
  redisKeysOf,
  type Reply,
  type StateAfter,
  type StateReply,
  type Step,
  toState,
} from './quota-script';
import type { LimitedClient, TakenRequest } from './quota-store';
import type { RedisConnection } from './redis-connection';

/** Redis did not answer in time, or returned an error. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

/** Counts in Redis, so that all instances share the limits. ioredis sends the calls of one turn of the event loop together. */
export class RedisQuotaStore {
  constructor(
    private readonly redis: Pick<RedisConnection, 'run'>,
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Is told what Redis has counted. */
    private readonly onCounted: (client: LimitedClient, windows: WindowState) => void = () => undefined,
  ) {}

  async take(client: LimitedClient): Promise<Decision> {
    const state = await this.run(client, 'take');
    const { outcome, exhausted, isNewlyBanned, windows, ban, now } = state;
    if (client.key !== null && outcome === 'allowed') {
      this.records.count(client.key.clientId, windows, 1);
    } else if (client.key !== null && isNewlyBanned) {
      this.records.saveBan(client.key.id, ban!, now);
    }
    const decision = decisionAfter(outcome as Outcome, exhausted, isNewlyBanned, state);
    // On the clock of Redis, so that a refund is for the window that it was taken from, to the millisecond.
    if (outcome === 'allowed') decision.takenAt += state.aheadMs;
    return decision;
  }

  async refund(client: LimitedClient, { takenAt }: TakenRequest): Promise<QuotaStatus> {
    const state = await this.run(client, 'refund', takenAt);
    if (client.key !== null) {
      this.records.count(client.key.clientId, state.windows, state.outcome === 'refunded' ? -1 : 0);
    }
    return statusOf(state);
  }

  async read(client: LimitedClient): Promise<QuotaStatus> {
    return statusOf(await this.run(client, 'read'));
  }

  private async run(client: LimitedClient, step: Step, takenAt = 0): Promise<StateAfter> {
    let reply = await this.call(client, scriptArguments(client, step, takenAt));
    if (reply[0] === 'unknown' && client.key !== null) {
      const usage = await this.records.usageOf(client.key.clientId);
      reply = await this.call(client, scriptArguments(client, step, takenAt, usage));
    }
    const state = toState(reply as StateReply, client, this.clock.now());
    this.onCounted(client, state.windows);
    return state;
  }

  private async call(client: LimitedClient, values: (string | number)[]): Promise<Reply> {
    try {
      return (await this.redis.run(redisKeysOf(client), [this.clock.now(), '', ...values])) as Reply;
    } catch (error) {
      throw new RedisUnavailableError(error);
    }
  }
}
