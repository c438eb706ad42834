import type { BanState } from '../rules/ban-rules';
import type { Decision } from '../rules/decision';
import type { WindowStanding } from '../rules/rate-window';
import type { Subject } from './subject';

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
  takenAlone?: boolean;
}

export type Taken = Decision & Receipt;

/**
 * Counts requests. Every method is one atomic step on the subject's windows and bans. It returns a promise only if it
 * must: a promise costs more than the counting.
 */
export abstract class QuotaStore {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded(): boolean {
    return false;
  }

  /** Takes one request from both windows or from neither, and applies strikes and bans. */
  abstract take(subject: Subject): Taken | Promise<Taken>;
  /** Refunds a request; returns the subject's standing after it. */
  abstract refund(subject: Subject, taken: Receipt): Standing | Promise<Standing>;
  /** Reloads the ban of a key, or all bans, from the database after a change elsewhere. */
  abstract reloadBans(keyId?: number): Promise<void>;
  /** Applies the reset of a client, or all recent resets. */
  abstract reloadResets(clientId?: number): Promise<void>;
  /** Reloads all daily counts from the database: others may have counted in the meantime. */
  abstract reloadDays(): Promise<void>;
  /** The subject's standing. Read-only. */
  abstract look(subject: Subject): Standing | Promise<Standing>;
  /** Stops background work. */
  onModuleDestroy?(): void;
  /** Writes pending counts; false if not all could be written. Never rejects. */
  abstract flush(): Promise<boolean>;
}
