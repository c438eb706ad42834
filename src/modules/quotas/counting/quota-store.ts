import type { BanState } from '../rules/ban-rules';
import type { Decision } from '../rules/decision';
import type { WindowStanding } from '../rules/rate-window';
import type { Subject } from './subject';

export interface Standing {
  standings: WindowStanding[];
  /** The ban state of the key; null for an address. */
  bans: Readonly<BanState> | null;
  /** Unix milliseconds of the standing, on the clock of whoever counts. */
  decidedAt: number;
}

/** What is needed to refund a request where it was taken. */
export interface Receipt {
  /** Unix milliseconds, on the clock of whoever counted. */
  takenAt: number;
  /** True when it was counted by this instance's share, because what counts together was away. */
  takenAlone?: boolean;
}

export type Taken = Decision & Receipt;

/**
 * Counts requests. Every method is one atomic step on the subject's windows and bans, and answers at once where it
 * can: a promise costs a request more than the counting does.
 */
export abstract class QuotaStore {
  /** True while requests are counted by a share of the limits only, because what counts them together is away. */
  isDegraded(): boolean {
    return false;
  }

  /** Takes one request from both windows, or from none; strikes and bans are part of the step. */
  abstract take(subject: Subject): Taken | Promise<Taken>;
  /** Refunds what a decision took; the subject's standing after it. */
  abstract refund(subject: Subject, taken: Receipt): Standing | Promise<Standing>;
  /** Takes over what the database says of a key's ban, or of every ban: somebody else has changed it. */
  abstract reloadBans(keyId?: number): Promise<void>;
  /** Begins the windows of a client anew that somebody has reset, or of every client reset lately. */
  abstract reloadResets(clientId?: number): Promise<void>;
  /** Takes over what the database says of the day of everybody: others may have counted meanwhile. */
  abstract reloadDays(): Promise<void>;
  /** The subject's standing; takes nothing. */
  abstract look(subject: Subject): Standing | Promise<Standing>;
  /** Ends what runs in the background. */
  onModuleDestroy?(): void;
  /** Writes the counts that wait to be written; false when not all of them could be. Never rejects. */
  abstract flush(): Promise<boolean>;
}
