import { Injectable } from '@nestjs/common';
import type { ClientKey } from '../../auth';
import { type QuotaStatus, statusOf, type Step, type StepResult, type TakenRequest } from '../rules/decision';
import type { Limits } from '../rules/limits';
import { QuotaRecords } from './quota-records';

/** Who is limited: the client of a valid key, or otherwise an IP address. Quotas belong to the client, bans to the key. */
export interface LimitedClient {
  /** As the database had it less than a second ago; null for an address. */
  key: LimitedKey | null;
  /** Whose requests count together: `client:7`, or `address:192.0.2.1`. */
  tracker: string;
  limits: Limits;
}

export type LimitedKey = Pick<ClientKey, 'id' | 'clientId' | 'ban' | 'resetAt'>;

/** The windows of clients and addresses, and the bans of keys: in memory or in Redis. */
export abstract class Counters {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded = false;

  /**
   * One atomic step; a read changes nothing.
   * @param taken the request to refund
   */
  abstract step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<StepResult>;
}

/** Counts requests, and saves what must survive a restart. */
@Injectable()
export class QuotaStore {
  constructor(
    private readonly counters: Counters,
    private readonly records: QuotaRecords,
  ) {}

  get isDegraded(): boolean {
    return this.counters.isDegraded;
  }

  /** Takes one request from both windows or from neither, and counts refusals and bans. */
  async take(client: LimitedClient): Promise<QuotaStatus> {
    const result = await this.counters.step(client, 'take');
    if (client.key !== null && result.outcome === 'allowed') {
      this.records.count(client.key.clientId, result.windows, 1);
    } else if (client.key !== null && result.isNewlyBanned) {
      this.records.saveBan(client.key.id, result.ban!, result.now);
    }
    return statusOf(result);
  }

  /** Refunds a request; returns the client's status after it. */
  async refund(client: LimitedClient, taken: TakenRequest): Promise<QuotaStatus> {
    const result = await this.counters.step(client, 'refund', taken);
    if (client.key !== null) {
      this.records.count(client.key.clientId, result.windows, result.outcome === 'refunded' ? -1 : 0);
    }
    return statusOf(result);
  }

  /** The client's status. Read-only. */
  async read(client: LimitedClient): Promise<QuotaStatus> {
    return statusOf(await this.counters.step(client, 'read'));
  }

  /** Writes pending counts. Never rejects. */
  flush(): Promise<void> {
    return this.records.flush();
  }
}
