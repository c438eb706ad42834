import type { ClientKey } from '../../auth';
import type { QuotaStatus, Step, TakenRequest } from '../rules/decision';
import type { Limits } from '../rules/limits';
import type { QuotaRecords } from './quota-records';

/** Who is limited: the client of a valid key, or otherwise an IP address. Quotas belong to the client, bans to the key. */
export interface LimitedClient {
  /** As the database had it less than a second ago; null for an address. */
  key: LimitedKey | null;
  /** Whose requests count together: `client:7`, or `address:192.0.2.1`. */
  tracker: string;
  limits: Limits;
}

export type LimitedKey = Pick<ClientKey, 'id' | 'clientId' | 'ban' | 'resetAt'>;

/** The windows of clients and addresses, and the bans of keys: in memory or in Redis. Saves what must survive a restart. */
export abstract class QuotaStore {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded = false;

  constructor(protected readonly records: QuotaRecords) {}

  /** One atomic step, of which nothing is saved; a read changes nothing. @param taken the request to refund */
  abstract step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<QuotaStatus>;

  /** Takes one request from both windows or from neither, and counts refusals and bans. */
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

  /** Refunds a request; returns the client's status after it. */
  async refund(client: LimitedClient, taken: TakenRequest): Promise<QuotaStatus> {
    const status = await this.step(client, 'refund', taken);
    if (client.key !== null) {
      this.records.count(client.key.clientId, status.counted, status.outcome === 'refunded' ? -1 : 0);
    }
    return status;
  }

  /** The client's status. */
  read(client: LimitedClient): Promise<QuotaStatus> {
    return this.step(client, 'read');
  }
}
