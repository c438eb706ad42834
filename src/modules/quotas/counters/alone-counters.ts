import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import { applyStep, type Decision, type QuotaState, type Step } from '../rules/decision';
import { countsForShare, MINUTE_MS, shareOf, type Window, type Windows } from '../rules/limits';
import { cacheOptions, MemoryCounters } from './memory-counters';
import type { LimitSubject } from './quota-counters';
import type { QuotaRecords } from './quota-records';

/** At most this many clients and addresses are reported to Redis at once. */
const REPORTED_AT_ONCE = 100;

/**
 * The start of a minute, and the number of requests that this instance allowed in this minute without Redis, because
 * Redis was unavailable.
 */
export type AllowedAlone = Pick<Window, 'start' | 'count'>;

/**
 * Counts the requests of this instance in memory while Redis is unavailable and the instances cannot share their
 * counts. Each instance allows its share of every limit, and continues from the counts that Redis last returned.
 */
export class AloneCounters extends MemoryCounters {
  /** Requests that this instance allowed without Redis and that Redis has not counted yet, by client or address. */
  private readonly unreported = new LRUCache<string, AllowedAlone & { subject: LimitSubject }>(
    cacheOptions(),
  );
  /**
   * The counts of the minute that Redis last returned, by client, converted to this instance's share. The database may
   * lack the requests of the last second, which matter in a minute but not in a day. The count of the day is therefore
   * read from the database, which also has later requests to other instances.
   */
  private readonly lastMinutes = new LRUCache<number, { minute: Window; resetAt: number }>(cacheOptions());

  constructor(
    records: QuotaRecords,
    clock: Clock,
    readonly instances: number,
  ) {
    super(records, clock);
  }

  /**
   * Keeps counts that Redis returned. If Redis fails later, this instance continues from these counts, and allows its
   * share of the remaining requests.
   */
  continueFrom({ key, tracker, limits }: LimitSubject, counted: Windows): void {
    const windows = countsForShare(counted, limits, this.instances);
    if (key === null) {
      this.addresses.set(tracker, windows);
    } else {
      this.clients.delete(key.clientId);
      this.lastMinutes.set(key.clientId, { minute: windows.minute, resetAt: key.resetAt });
    }
  }

  /**
   * Reports to Redis the requests that this instance allowed while Redis was unavailable. Then forgets this instance's
   * own counts, and keeps the counts of Redis.
   * @param add adds the requests to the counts in Redis, and returns these counts
   */
  async report(add: (subject: LimitSubject, allowed: AllowedAlone) => Promise<Windows>): Promise<void> {
    const waiting = [...this.unreported.values()].filter(({ count }) => count > 0);
    const results: [LimitSubject, Windows][] = [];
    const reportOne = async (allowed: (typeof waiting)[number]): Promise<void> => {
      const { subject, start, count } = allowed;
      results.push([subject, await add(subject, { start, count })]);
      // Do not set the count to 0, because this instance may have allowed more requests without Redis before Redis
      // answered.
      allowed.count -= count;
    };
    while (waiting.length > 0) {
      await Promise.all(waiting.splice(0, REPORTED_AT_ONCE).map(reportOne));
    }
    [this.clients, this.addresses, this.lastMinutes].forEach((cache) => cache.clear());
    results.forEach((one) => this.continueFrom(...one));
  }

  protected override decide(subject: LimitSubject, state: QuotaState, step: Step): Decision {
    const { minute } = state.windows;
    const before = minute.count;
    const decision = applyStep({ ...state, share: shareOf(state.limits, this.instances) }, step);
    const isRefunded = typeof step === 'object' && minute.count < before;
    if (isRefunded || decision.outcome === 'allowed') {
      let allowed = this.unreported.get(subject.tracker);
      if (allowed === undefined || state.now >= allowed.start + MINUTE_MS) {
        allowed = { subject, start: minute.start, count: 0 };
        this.unreported.set(subject.tracker, allowed);
      }
      allowed.count = Math.max(0, allowed.count + (isRefunded ? -1 : 1));
    }
    return decision;
  }

  /**
   * Returns this instance's share of a client's counts in the database. If Redis has returned a count of the minute,
   * returns that count instead, because the count in the database may be a second old. After a later reset by an
   * operator, the count in the database applies again.
   */
  protected override async readWindows(subject: LimitSubject): Promise<Windows> {
    const { clientId, resetAt } = subject.key!;
    const last = this.lastMinutes.get(clientId);
    const { minute, day } = countsForShare(await super.readWindows(subject), subject.limits, this.instances);
    return { minute: last !== undefined && last.resetAt >= resetAt ? last.minute : minute, day };
  }

  protected override sweep(): void {
    super.sweep();
    [this.unreported, this.lastMinutes].forEach((cache) => cache.purgeStale());
  }
}
