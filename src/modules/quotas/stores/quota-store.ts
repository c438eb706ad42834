import type { ClientKey } from '../../auth';
import type { Decision, QuotaStatus } from '../rules/decision';
import type { Limits } from '../rules/limits';

/** Who is limited: the client of a valid key, or otherwise an IP address. Quotas belong to the client, bans to the key. */
export interface LimitedClient {
  /** As the database had it less than a second ago; null for an address. */
  key: LimitedKey | null;
  /** Whose requests count together: `client:7`, or `address:192.0.2.1`. */
  tracker: string;
  limits: Limits;
}

export type LimitedKey = Pick<ClientKey, 'id' | 'clientId' | 'ban' | 'resetAt'>;

/** What a refund needs to know. */
export type TakenRequest = Pick<Decision, 'takenAt' | 'takenLocally'>;

/** Counts requests. Every method is one atomic step on the client's windows and bans. */
export abstract class QuotaStore {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded = false;

  /** Takes one request from both windows or from neither, and counts refusals and bans. */
  abstract take(client: LimitedClient): Promise<Decision>;
  /** Refunds a request; returns the client's status after it. */
  abstract refund(client: LimitedClient, taken: TakenRequest): Promise<QuotaStatus>;
  /** The client's status. Read-only. */
  abstract read(client: LimitedClient): Promise<QuotaStatus>;
  /** Writes pending counts. Never rejects. */
  abstract flush(): Promise<void>;
}
