import type { ClientKey } from '../../auth';
import type { Decision, Step, TakenRequest } from '../rules/decision';
import type { Limits } from '../rules/limits';
import type { QuotaRecords } from './quota-records';

/**
 * The subject of limits: a client with a valid key or, for requests without such a key, an IP address. A limit applies to
 * all keys of a client, a ban to one key.
 */
export interface LimitSubject {
  /** The API key, read from the database less than a second ago. Null if the subject is an IP address. */
  key: ClientKey | null;
  /** Names the subject in caches and in Redis, for example `client:7` or `address:192.0.2.1`. */
  tracker: string;
  limits: Limits;
}

/**
 * Counts requests and bans keys, in memory or in Redis. Counts and bans are also saved in the database, where they
 * survive a restart.
 */
export abstract class QuotaCounters {
  /** True while this instance counts in its own memory, because Redis is unavailable. */
  countsAlone = false;

  constructor(protected readonly records: QuotaRecords) {}

  /**
   * Applies a step atomically, that is, counts a request, refunds a request, or only reads the counts. Saves nothing in
   * the database.
   */
  abstract apply(subject: LimitSubject, step: Step): Promise<Decision>;

  async take(subject: LimitSubject): Promise<Decision> {
    const decision = await this.apply(subject, 'take');
    if (subject.key !== null && decision.outcome === 'allowed') {
      this.records.count(subject.key.clientId, decision.counted, 1);
      if (decision.isCountedAlone) this.records.flushSoon();
    } else if (subject.key !== null && decision.isNewlyBanned) {
      this.records.saveBan(subject.key.id, decision.ban!, decision.decidedAt);
    }
    return decision;
  }

  async refund(subject: LimitSubject, { takenAt, isCountedAlone }: TakenRequest): Promise<Decision> {
    const decision = await this.apply(subject, { refund: { takenAt, isCountedAlone } });
    if (subject.key !== null) {
      this.records.count(subject.key.clientId, decision.counted, decision.outcome === 'refunded' ? -1 : 0);
    }
    return decision;
  }

  read(subject: LimitSubject): Promise<Decision> {
    return this.apply(subject, 'read');
  }
}
