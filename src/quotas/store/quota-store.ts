import type { BanState } from '../ban-rules';
import type { Decision } from '../decision';
import type { WindowStanding } from '../rate-window';
import type { Subject } from '../subject';

export interface Standing {
  standings: WindowStanding[];
  /** The ban state of the key; null for an address. */
  bans: Readonly<BanState> | null;
  /** Unix milliseconds of the standing, on the clock of whoever counts. */
  decidedAt: number;
}

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
  abstract take(subject: Subject): Decision | Promise<Decision>;
  /** Gives back what a decision took; the subject's standing after it. */
  abstract handBack(subject: Subject, takenAt: number): Standing | Promise<Standing>;
  /** Takes over what the database says of a key's ban, or of every ban: somebody else has changed it. */
  abstract reloadBans(keyId?: number): Promise<void>;
  /** The subject's standing; takes nothing. */
  abstract look(subject: Subject): Standing | Promise<Standing>;
}
