import type { ClientKey } from '../../auth';
import type { QuotaStatus, Step, TakenRequest } from '../rules/decision';
import type { Limits } from '../rules/limits';
import type { QuotaRecords } from './quota-records';

/** A client with a valid key, or an IP address without one. Quotas belong to the client, bans to the key. */
export interface LimitedClient {
  /** The key as the database had it less than a second ago; null for an address. */
  key: LimitedKey | null;
  /** Requests with the same tracker are counted together. Examples: `client:7`, `address:192.0.2.1`. */
  tracker: string;
  limits: Limits;
}

export type LimitedKey = Pick<ClientKey, 'id' | 'clientId' | 'ban' | 'resetAt'>;

/** Counts requests and bans keys, in memory or in Redis. Saves counts and bans in the database, so that they survive a restart. */
export abstract class QuotaStore {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded = false;

  constructor(protected readonly records: QuotaRecords) {}

  /** Counts a request, refunds the request `taken`, or reads the status, in one atomic step. Saves nothing in the database. */
  abstract step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<QuotaStatus>;

  /** Counts a request in all windows, or in none if one of them is exhausted. Saves the new count or ban. */
  async take(client: LimitedClient): Promise<QuotaStatus> {
    const status = await this.step(client, 'take');
    if (client.key !== null && status.outcome === 'allowed') {
      this.records.count(client.key.clientId, status.counted, 1);
      if (status.isLocal) this.records.flushSoon();
    } else if (client.key !== null && status.isNewlyBanned) {
      this.records.saveBan(client.key.id, status.ban!, status.decidedAt);
    }
    return status;
  }

  async refund(client: LimitedClient, taken: TakenRequest): Promise<QuotaStatus> {
    const status = await this.step(client, 'refund', taken);
    if (client.key !== null) {
      this.records.count(client.key.clientId, status.counted, status.outcome === 'refunded' ? -1 : 0);
    }
    return status;
  }

  read(client: LimitedClient): Promise<QuotaStatus> {
    return this.step(client, 'read');
  }
}
