import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RepeatingTask } from '#libs/background';
import type { Clock } from '#libs/clock';
import { applyStoredBan, type BanState, newBanState } from '../rules/bans';
import { applyStep, type Decision, type QuotaState, type Step } from '../rules/decision';
import { MINUTE_MS, newWindows, type Windows } from '../rules/limits';
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
  resetAt: number;
}

/** Returns the options of every cache of counts. An entry that is not used for IDLE_MS is evicted. */
export const cacheOptions = () => ({
  // A cache with `max` instead of `maxSize` would allocate memory for all entries at the start.
  maxSize: MAX_ENTRIES,
  sizeCalculation: () => 1,
  ttl: IDLE_MS,
  ttlResolution: SWEEP_MS,
  updateAgeOnGet: true,
  // Pass the present global `performance`, because tests replace this object. By default, lru-cache uses the original
  // one.
  perf: performance,
});

/** Counts requests in memory. The counts of a client are read from the database at its first request. */
export class MemoryCounters extends QuotaCounters implements OnModuleInit, OnModuleDestroy {
  /**
   * Concurrent first requests of a client share one read of the database, because two reads would create two entries,
   * each with the full limit.
   */
  protected readonly clients = new LRUCache<number, ClientEntry, LimitSubject>({
    ...cacheOptions(),
    fetchMethod: async (_clientId, _earlier, { context }) => {
      const { resetAt } = context.key!;
      return { windows: await this.readWindows(context), resetAt };
    },
    // Requests that wait for a read of the database get the result of this read even if the entry is removed in the
    // meantime.
    ignoreFetchAbort: true,
  });
  protected readonly addresses = new LRUCache<string, Windows>({ ...cacheOptions(), memoMethod: newWindows });
  private readonly bans = new LRUCache<number, BanState>({ ...cacheOptions(), memoMethod: newBanState });
  private readonly sweeper = new RepeatingTask({
    name: 'Evicting idle counts',
    work: () => this.sweep(),
    everyMs: SWEEP_MS,
  });

  constructor(
    records: QuotaRecords,
    private readonly clock: Clock,
  ) {
    super(records);
  }

  onModuleInit(): void {
    this.sweeper.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.sweeper.stop();
  }

  async apply(subject: LimitSubject, step: Step): Promise<Decision> {
    const { key, tracker, limits } = subject;
    const windows = key === null ? this.addresses.memo(tracker) : await this.windowsOf(subject);
    // There is no `await` from here to the end of the function, so no other request can change the counts in between.
    const ban = key && this.bans.memo(key.id);
    if (key !== null) {
      applyStoredBan(ban!, key.ban);
    }
    return this.decide(subject, { windows, ban, limits, now: this.clock.now() }, step);
  }

  protected decide(_subject: LimitSubject, state: QuotaState, step: Step): Decision {
    return applyStep(state, step);
  }

  protected readWindows({ key }: LimitSubject): Promise<Windows> {
    return this.records.windowsOf(key!);
  }

  protected sweep(): void {
    [this.clients, this.addresses, this.bans].forEach((cache) => cache.purgeStale());
  }

  private async windowsOf(subject: LimitSubject): Promise<Windows> {
    const { clientId, resetAt } = subject.key!;
    const entry = this.clients.get(clientId) ?? (await this.clients.fetch(clientId, { context: subject }))!;
    if (resetAt > entry.resetAt) {
      Object.assign(entry, { windows: newWindows(), resetAt });
    }
    return entry.windows;
  }
}
