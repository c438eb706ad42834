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
/** Idle entries leave after this long: windows are over, or in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** Entries of a kind. Callers without a key can use any number of addresses; the least recently used leave first. */
const MAX_ENTRIES = 200_000;

interface ClientEntry {
  windows: Windows;
  /** False if the minute is what Redis reported last, and the day has to be read from the database before use. */
  isComplete: boolean;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
}

/** Counts in this process. The counts of a client are read from the database on first use. */
export class MemoryStore extends QuotaStore implements OnModuleDestroy {
  /** `fetch` reads once for all who ask meanwhile: a second copy would be a second quota. */
  private readonly clients: LRUCache<number, ClientEntry, LimitedClient>;
  private readonly bans: LRUCache<number, BanState>;
  private readonly addresses: LRUCache<string, Windows>;
  /**
   * What this instance has allowed by its share in a minute, by tracker. The end of an outage does not clear these counts:
   * otherwise each outage within the same minute would allow another share.
   */
  private readonly allowedAlone: LRUCache<string, Window>;
  private readonly sweeper: NodeJS.Timeout;

  constructor(
    records: QuotaRecords,
    private readonly clock: Clock,
    /** Number of instances that count separately; each allows its share. */
    private readonly instances = 1,
    /** True if this store counts only while Redis is unavailable. */
    private readonly isShare = false,
  ) {
    super(records);
    // `performance` is the default, but looked up when the module is loaded, before a test replaces it.
    const bounds = {
      max: MAX_ENTRIES,
      ttl: IDLE_MS,
      ttlResolution: SWEEP_MS,
      updateAgeOnGet: true,
      perf: performance,
    };
    this.clients = new LRUCache<number, ClientEntry, LimitedClient>({
      ...bounds,
      fetchMethod: (_clientId, before, { context }) => this.readClient(context, before),
      noDeleteOnFetchRejection: true,
      // Whoever waits for it still counts in it.
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
    // From here to the end is one step: nobody else changes the state meanwhile.
    const ban = key && this.bans.memo(key.id);
    const isRead = step === 'read';
    const now = this.clock.now();
    const current = isRead ? copyOf(windows) : windows;
    // The time of the client's last reset is part of the key, because a reset begins a new share.
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

  /** What the instances have counted together: a count of this one alone would begin there, with its share of what is left. */
  startFrom({ key, tracker, limits }: LimitedClient, counted: Windows): void {
    const windows = shareOfRest(counted, limits, this.instances);
    if (key === null) {
      this.addresses.set(tracker, windows);
    } else {
      this.clients.set(key.clientId, { windows, isComplete: false, resetAt: key.resetAt });
    }
  }

  /** Forgets the counts of this instance when the instances count together again, but not what it has allowed in the minute. */
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

  /** @param before what Redis reported, whose minute goes on, unless it was reset */
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
