import type { Decision, Standing, StoredBan } from '../rules/decision';
import type { Limits } from '../rules/limits';

/** Quotas belong to the client, bans to the key. */
export interface ClientSubject {
  kind: 'client';
  clientId: number;
  keyId: number;
  limits: Limits;
  /** As the database had them less than a second ago. */
  ban: StoredBan;
  resetAt: number;
}

export interface AddressSubject {
  kind: 'address';
  address: string;
  limits: Limits;
}

/** Who is limited: a client with a valid key, or otherwise the IP address. */
export type Subject = ClientSubject | AddressSubject;

/** What a refund needs to know. */
export type Taken = Pick<Decision, 'takenAt' | 'takenLocally'>;

/** Counts requests. Every method is one atomic step on the subject's windows and bans. */
export abstract class QuotaStore {
  /** `isDegraded` while this instance allows only its share of the limits, because Redis is unavailable. */
  readonly redis = { isDegraded: false };

  /** Takes one request from both windows or from neither, and counts refusals and bans. */
  abstract take(subject: Subject): Promise<Decision>;
  /** Refunds a request; returns the subject's standing after it. */
  abstract refund(subject: Subject, taken: Taken): Promise<Standing>;
  /** The subject's standing. Read-only. */
  abstract look(subject: Subject): Promise<Standing>;
  /** Writes pending counts. Never rejects. */
  abstract flush(): Promise<void>;
}
