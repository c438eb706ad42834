import type { OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import {
  applyStep,
  applyStoredBan,
  type BanState,
  newBanState,
  type QuotaStatus,
  type Step,
  type TakenRequest,
} from '../rules/decision';
import {
  copyOf,
  MINUTE_MS,
  newWindows,
  raise,
  shareOf,
  shareOfRest,
  type Window,
  type Windows,
} from '../rules/limits';
import type { QuotaRecords } from './quota-records';
import { type LimitedClient, QuotaStore } from './quota-store';

const SWEEP_MS = MINUTE_MS;
/** Entries that were not used for ten minutes are evicted: their minute is over, and days and bans are in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** The most entries of each cache. Callers without a key can use any number of addresses, so old entries are evicted. */
const MAX_ENTRIES = 200_000;

interface ClientEntry {
  windows: Windows;
  /** False if these are the counts that Redis reported last. The day is then read from the database before use. */
  isComplete: boolean;
  /** The last reset of the client that was applied to these windows, in unix milliseconds; 0 for none. */
  resetAt: number;
}

/** Counts requests in the memory of this process. A client's counts are read from the database on the first request. */
export class MemoryStore extends QuotaStore implements OnModuleDestroy {
  /** Concurrent requests of a client share one `fetch`, and so one entry: a second entry would be a second quota. */
  private readonly clients: LRUCache<number, ClientEntry, LimitedClient>;
  private readonly bans: LRUCache<number, BanState>;
  private readonly addresses: LRUCache<string, Windows>;
  /** The requests that each client or address was allowed in the current minute while Redis was unavailable. */
  private readonly allowedAlone: LRUCache<string, Window>;
  private readonly sweeper: NodeJS.Timeout;

  constructor(
    records: QuotaRecords,
    private readonly clock: Clock,
    private readonly instances = 1,
    private readonly isShare = false,
  ) {
    super(records);
    const bounds = {
      max: MAX_ENTRIES,
      ttl: IDLE_MS,
      ttlResolution: SWEEP_MS,
      updateAgeOnGet: true,
      // By default, lru-cache uses the `performance` object that existed before a test replaced the clock.
      perf: performance,
    };
    this.clients = new LRUCache<number, ClientEntry, LimitedClient>({
      ...bounds,
      fetchMethod: (_clientId, before, { context }) => this.readClient(context, before),
      noDeleteOnFetchRejection: true,
      // If an entry is replaced while the database is read, the requests that wait for the read still get its result.
      ignoreFetchAbort: true,
    });
    this.bans = new LRUCache<number, BanState>({ ...bounds, memoMethod: newBanState });
    this.addresses = new LRUCache<string, Windows>({ ...bounds, memoMethod: newWindows });
    this.allowedAlone = new LRUCache<string, Window>({ ...bounds, memoMethod: () => newWindows().minute });
    const caches = [this.clients, this.bans, this.addresses, this.allowedAlone];
    this.sweeper = setInterval(() => caches.forEach((cache) => cache.purgeStale()), SWEEP_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.sweeper);
  }

  async step(client: LimitedClient, step: Step, taken?: TakenRequest): Promise<QuotaStatus> {
    const { key, tracker, limits } = client;
    const windows = key === null ? this.addresses.memo(tracker) : await this.windowsOf(client);
    // There is no `await` from here on, so concurrent requests cannot change the state before this step has ended.
    const ban = key && this.bans.memo(key.id);
    const isRead = step === 'read';
    const now = this.clock.now();
    const current = isRead ? copyOf(windows) : windows;
    // The time of the client's last reset is part of the cache key, so that a reset gives the client a new share.
    const allowed = this.isShare ? this.allowedAlone.memo(`${tracker} ${key?.resetAt ?? 0}`) : null;
    if (allowed !== null) {
      raise(current.minute, allowed, MINUTE_MS, now);
    }
    const before = current.minute.count;
    const state = {
      windows: current,
      ban: isRead ? ban && { ...ban } : ban,
      limits: shareOf(limits, this.instances),
      perMinute: limits.perMinute,
      isShare: this.isShare,
      now,
    };
    if (key !== null) {
      applyStoredBan(state.ban!, key.ban);
    }
    const status = applyStep(state, step, taken?.takenAt ?? 0);
    if (allowed !== null && status.outcome === 'allowed') {
      if (now >= allowed.start + MINUTE_MS) Object.assign(allowed, { start: current.minute.start, count: 0 });
      allowed.count += 1;
    } else if (allowed !== null && step === 'refund' && current.minute.count < before) {
      allowed.count = Math.max(0, allowed.count - 1);
    }
    return status;
  }

  /** Stores the counts that Redis reported. If Redis fails, this instance continues from its share of what is left. */
  startFrom({ key, tracker, limits }: LimitedClient, counted: Windows): void {
    const windows = shareOfRest(counted, limits, this.instances);
    if (key === null) {
      this.addresses.set(tracker, windows);
    } else {
      this.clients.set(key.clientId, { windows, isComplete: false, resetAt: key.resetAt });
    }
  }

  /** Forgets the counts when Redis is back. `allowedAlone` stays: the next outage in the same minute allows no second share. */
  clear(): void {
    this.clients.clear();
    this.addresses.clear();
  }

  private async windowsOf(client: LimitedClient): Promise<Windows> {
    const { clientId, resetAt } = client.key!;
    let entry = this.clients.get(clientId);
    if (!entry?.isComplete) {
      entry = (await this.clients.fetch(clientId, { context: client, forceRefresh: true }))!;
    }
    if (resetAt > entry.resetAt) {
      Object.assign(entry, { windows: newWindows(), resetAt });
    }
    return entry.windows;
  }

  /** Reads a client's counts from the database. The minute of `before` continues, unless the client was reset since. */
  private async readClient({ key, limits }: LimitedClient, before?: ClientEntry): Promise<ClientEntry> {
    const { resetAt } = key!;
    const { minute, day } = shareOfRest(await this.records.windowsOf(key!), limits, this.instances);
    const isSameMinute = before !== undefined && before.resetAt >= resetAt;
    return {
      windows: { minute: isSameMinute ? before.windows.minute : minute, day },
      isComplete: true,
      resetAt,
    };
  }
}
