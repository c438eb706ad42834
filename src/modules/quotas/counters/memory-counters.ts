import type { OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import { applyStoredBan, type BanState, newBanState } from '../rules/bans';
import { applyStep, type Decision, type Step } from '../rules/decision';
import { MINUTE_MS, newWindows, shareOf, countsForShare, type Windows } from '../rules/limits';
import type { QuotaRecords } from './quota-records';
import { type LimitSubject, QuotaCounters } from './quota-counters';

const SWEEP_MS = MINUTE_MS;
/**
 * Entries of the caches are evicted after ten minutes without a request. At the next request of a client, the client's
 * counts are read from the database.
 */
const IDLE_MS = 10 * MINUTE_MS;
/** Maximum number of entries in each cache. Without a limit, requests from very many addresses could fill the memory. */
const MAX_ENTRIES = 200_000;

interface ClientEntry {
  windows: Windows;
  /**
   * False if Redis reported these counts. After Redis has failed, this instance keeps only the reported count of the
   * minute. The count of the day is read from the database, which also has the requests that other instances have counted
   * since the report. The database may lack the requests of the last second, which matter in a minute but not in a day.
   */
  isFromDatabase: boolean;
  resetAt: number;
}

/** Requests of one minute that a client or an address was allowed while Redis was unavailable. */
export interface AllowedAlone {
  subject: LimitSubject;
  /** Start of the minute, in unix milliseconds. */
  start: number;
  count: number;
}

/** Returns the options of every cache in this file. An entry that is not used for IDLE_MS is evicted. */
const cacheOptions = () => ({
  // `max` instead of `maxSize` would allocate memory for all entries at the start.
  maxSize: MAX_ENTRIES,
  sizeCalculation: () => 1,
  ttl: IDLE_MS,
  ttlResolution: SWEEP_MS,
  updateAgeOnGet: true,
  // Tests replace the global `performance`. Pass the current object, because lru-cache otherwise uses the original one.
  perf: performance,
});

/** Counts requests in memory. The counts of a client are read from the database at its first request. */
export class MemoryCounters extends QuotaCounters implements OnModuleDestroy {
  /**
   * Concurrent first requests of a client share one read of the database, because two reads would create two entries,
   * each with the full limit.
   */
  private readonly clients = new LRUCache<number, ClientEntry, LimitSubject>({
    ...cacheOptions(),
    fetchMethod: (_clientId, earlier, { context }) => this.readClient(context, earlier),
    noDeleteOnFetchRejection: true,
    // Requests that wait for a read of the database get the result of this read even if the entry is replaced in the
    // meantime.
    ignoreFetchAbort: true,
  });
  private readonly bans = new LRUCache<number, BanState>({ ...cacheOptions(), memoMethod: newBanState });
  private readonly addresses = new LRUCache<string, Windows>({ ...cacheOptions(), memoMethod: newWindows });
  /**
   * Requests that were allowed in memory and that Redis has not counted yet, by client or address. Empty if the service
   * does not use Redis.
   */
  readonly allowedAlone = new LRUCache<string, AllowedAlone>(cacheOptions());
  private readonly sweeper = setInterval(() => {
    [this.clients, this.bans, this.addresses, this.allowedAlone].forEach((cache) => cache.purgeStale());
  }, SWEEP_MS).unref();

  constructor(
    records: QuotaRecords,
    private readonly clock: Clock,
    private readonly instances = 1,
    private readonly isShare = false,
  ) {
    super(records);
  }

  onModuleDestroy(): void {
    clearInterval(this.sweeper);
  }

  async apply(subject: LimitSubject, step: Step): Promise<Decision> {
    const { key, tracker, limits } = subject;
    const windows = key === null ? this.addresses.memo(tracker) : await this.windowsOf(subject);
    // There is no `await` from here to the end of the function, so no other request can change the counts in between.
    const ban = key && this.bans.memo(key.id);
    if (key !== null) {
      applyStoredBan(ban!, key.ban);
    }
    const now = this.clock.now();
    const before = windows.minute.count;
    const state = {
      windows,
      ban,
      limits: shareOf(limits, this.instances),
      perMinute: limits.perMinute,
      isShare: this.isShare,
      now,
    };
    const decision = applyStep(state, step);
    const isRefunded = typeof step === 'object' && windows.minute.count < before;
    if (this.isShare && (isRefunded || decision.outcome === 'allowed')) {
      let allowed = this.allowedAlone.get(tracker);
      if (allowed === undefined || now >= allowed.start + MINUTE_MS) {
        allowed = { subject, start: windows.minute.start, count: 0 };
        this.allowedAlone.set(tracker, allowed);
      }
      allowed.count = Math.max(0, allowed.count + (isRefunded ? -1 : 1));
    }
    return decision;
  }

  /** Keeps counts that Redis reported. If Redis fails, this instance continues with its share of the remaining requests. */
  startFrom({ key, tracker, limits }: LimitSubject, counted: Windows): void {
    const windows = countsForShare(counted, limits, this.instances);
    if (key === null) {
      this.addresses.set(tracker, windows);
    } else {
      this.clients.set(key.clientId, { windows, isFromDatabase: false, resetAt: key.resetAt });
    }
  }

  clear(): void {
    this.clients.clear();
    this.addresses.clear();
  }

  private async windowsOf(subject: LimitSubject): Promise<Windows> {
    const { clientId, resetAt } = subject.key!;
    let entry = this.clients.get(clientId);
    if (!entry?.isFromDatabase) {
      entry = (await this.clients.fetch(clientId, { context: subject, forceRefresh: true }))!;
    }
    if (resetAt > entry.resetAt) {
      Object.assign(entry, { windows: newWindows(), resetAt });
    }
    return entry.windows;
  }

  /**
   * Reads a client's counts from the database. If there is an earlier entry, keeps its count of the minute
   * (`ClientEntry.isFromDatabase` says why), unless an operator has reset the counts since then.
   */
  private async readClient({ key, limits }: LimitSubject, earlier?: ClientEntry): Promise<ClientEntry> {
    const { resetAt } = key!;
    const { minute, day } = countsForShare(await this.records.windowsOf(key!), limits, this.instances);
    const keepsMinute = earlier !== undefined && earlier.resetAt >= resetAt;
    return {
      windows: { minute: keepsMinute ? earlier.windows.minute : minute, day },
      isFromDatabase: true,
      resetAt,
    };
  }
}
