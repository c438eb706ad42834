import type { BanState, Decision } from '../rules/decision';
import type { Limits, WindowStanding } from '../rules/limits';

export interface ClientSubject {
  kind: 'client';
  /** Quotas belong to the client, bans to the key. */
  clientId: number;
  keyId: number;
  limits: Limits;
}

export interface AddressSubject {
  kind: 'address';
  address: string;
  limits: Limits;
}

/** Who is limited: a client with a valid key, or otherwise the IP address. */
export type Subject = ClientSubject | AddressSubject;

export interface Standing {
  standings: WindowStanding[];
  /** The ban state of the key; null for an address. */
  bans: Readonly<BanState> | null;
  /** Unix milliseconds, on the clock of the counter. */
  decidedAt: number;
}

/** What a refund needs to know. */
export interface Receipt {
  /** Unix milliseconds, on the clock of the counter. */
  takenAt: number;
  /** True if this instance counted the request by its share, because Redis was unavailable. */
  takenLocally?: boolean;
}

export type Taken = Decision & Receipt;

/** A changed ban, by its key, or a reset, by its client. With neither, anything may have changed: bans, resets and days. */
export interface Change {
  keyId?: number;
  clientId?: number;
}

/** What operators should know of Redis. */
export interface RedisState {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded: boolean;
  /** Its eviction policy, if it may evict counters: clients then get more than their limit. */
  evictionPolicy?: string;
}

/**
 * Counts requests. Every method is one atomic step on the subject's windows and bans. It returns a promise only if it
 * must: a promise costs more than the counting.
 */
export abstract class QuotaStore {
  redis: RedisState = { isDegraded: false };
  /** Called when `redis` has changed. */
  onChange: () => void = () => undefined;

  /** Takes one request from both windows or from neither, and applies strikes and bans. */
  abstract take(subject: Subject): Taken | Promise<Taken>;
  /** Refunds a request; returns the subject's standing after it. */
  abstract refund(subject: Subject, taken: Receipt): Standing | Promise<Standing>;
  /** Applies what another process has changed in the database. */
  abstract reload(change: Change): Promise<void>;
  /** The subject's standing. Read-only. */
  abstract look(subject: Subject): Standing | Promise<Standing>;
  /** Writes pending counts; false if not all could be written. Never rejects. */
  abstract flush(): Promise<boolean>;
}
