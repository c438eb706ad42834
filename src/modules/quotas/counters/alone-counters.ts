import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import { applyStep, type Decision, type QuotaState, type Step } from '../rules/decision';
import { countsForShare, MINUTE_MS, shareOf, type Window, type Windows } from '../rules/limits';
import { cacheOptions, MemoryCounters } from './memory-counters';
import type { LimitSubject } from './quota-counters';
import type { QuotaRecords } from './quota-records';

/** At most this many clients and addresses are reported to Redis at once. */
const REPORTED_AT_ONCE = 100;

/** The start of a minute, and the number of requests that this instance allowed alone in this minute. */
export type AllowedAlone = Pick<Window, 'start' | 'count'>;

/**
 * Counts requests of this instance alone, in memory, while Redis is unavailable. Each instance allows its share of every
 * limit, and continues from the counts that Redis last returned.
 */
export class AloneCounters extends MemoryCounters {
  /** Requests that were allowed alone and that Redis has not counted yet, by client or address. */
  private readonly unreported = new LRUCache<string, AllowedAlone & { subject: LimitSubject }>(
    cacheOptions(),
  );
  /**
   * The count of the minute that Redis last returned, by client. The count of the day is read from the database, which
   * also has the requests that other instances have counted since then. The database may lack the requests of the last
   * second, which matter in a minute but not in a day.
   */
  private readonly lastMinutes = new LRUCache<number, { minute: Window; resetAt: number }>(cacheOptions());

  constructor(
    records: QuotaRecords,
    clock: Clock,
    readonly instances: number,
  ) {
    super(records, clock);
  }

  /** Keeps counts that Redis returned. If Redis fails, this instance continues with its share of the remaining requests. */
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
   * Reports the requests that were allowed alone. Then forgets this instance's own counts, and keeps the counts of Redis.
   * @param add adds the requests to the counts in Redis, and returns these counts
   */
  async report(add: (subject: LimitSubject, allowed: AllowedAlone) => Promise<Windows>): Promise<void> {
    const waiting = [...this.unreported.values()].filter(({ count }) => count > 0);
    const results: [LimitSubject, Windows][] = [];
    const reportOne = async (allowed: (typeof waiting)[number]): Promise<void> => {
      const { subject, start, count } = allowed;
      results.push([subject, await add(subject, { start, count })]);
      // Do not set the count to 0, because this instance may have allowed more requests alone while Redis answered.
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
   * Returns this instance's share of a client's counts in the database. If Redis has returned a minute, keeps its count
   * (`lastMinutes` says why), unless an operator has reset the counts since then.
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
