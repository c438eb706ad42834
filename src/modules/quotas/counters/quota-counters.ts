import type { ClientKey } from '../../auth';
import type { QuotaStatus, Step, TakenRequest } from '../rules/decision';
import type { Limits } from '../rules/limits';
import type { QuotaRecords } from './quota-records';

/**
 * The subject of limits: a client with a valid key or, for requests without such a key, an IP address. A limit applies to
 * all keys of a client, a ban to one key.
 */
export interface LimitSubject {
  /** The API key, read from the database less than a second ago. Null if the subject is an IP address. */
  key: LimitedKey | null;
  tracker: string;
  limits: Limits;
}

export type LimitedKey = Pick<ClientKey, 'id' | 'clientId' | 'ban' | 'resetAt'>;

/**
 * Counts requests and bans keys, in memory or in Redis. Counts and bans are also saved in the database, where they
 * survive a restart.
 */
export abstract class QuotaCounters {
  /** True while this instance counts alone because Redis is unavailable. */
  isDegraded = false;

  constructor(protected readonly records: QuotaRecords) {}

  /**
   * Counts a request, refunds the request `taken`, or only reads the counts, atomically. A refunded request no longer
   * counts towards the limits. Saves nothing in the database.
   */
  abstract apply(subject: LimitSubject, step: Step, taken?: TakenRequest): Promise<QuotaStatus>;

  async take(subject: LimitSubject): Promise<QuotaStatus> {
    const status = await this.apply(subject, 'take');
    if (subject.key !== null && status.outcome === 'allowed') {
      this.records.count(subject.key.clientId, status.counted, 1);
      if (status.isLocal) this.records.flushSoon();
    } else if (subject.key !== null && status.isNewlyBanned) {
      this.records.saveBan(subject.key.id, status.ban!, status.decidedAt);
    }
    return status;
  }

  async refund(subject: LimitSubject, taken: TakenRequest): Promise<QuotaStatus> {
    const status = await this.apply(subject, 'refund', taken);
    if (subject.key !== null) {
      this.records.count(subject.key.clientId, status.counted, status.outcome === 'refunded' ? -1 : 0);
    }
    return status;
  }

  read(subject: LimitSubject): Promise<QuotaStatus> {
    return this.apply(subject, 'read');
  }
}
