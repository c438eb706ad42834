import type { OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Clock, RepeatingTask } from '#libs/clock';
import {
  applyStoredBan,
  type BanState,
  decide,
  type Decision,
  newBanState,
  type Standing,
  standingOf,
  type SubjectState,
} from '../rules/decision';
import {
  isDayOver,
  type Limits,
  MINUTE_MS,
  newWindowState,
  refund,
  shareOf,
  type WindowState,
} from '../rules/limits';
import type { QuotaRecords } from './quota-records';
import { type ClientSubject, QuotaStore, type Taken, type Subject } from './quota-store';

const SWEEP_MS = 10_000;
/** Idle entries leave after this long: windows are over, or in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** Entries of a kind. Callers without a key can use any number of addresses; the least recently used leave first. */
const MAX_ENTRIES = 200_000;

interface ClientEntry {
  windows: WindowState;
  /** The client's daily count when it was read here. */
  usedBefore: number;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
  /** The day must be read again before use, because other instances may have counted. */
  isStale: boolean;
}

/** Counts in this process, and saves counts and bans in the database, from where a client's are read on first use. */
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  /** `fetch` reads once for all who ask meanwhile: a second copy would be a second quota. */
  private readonly clients: LRUCache<number, ClientEntry>;
  private readonly bans: LRUCache<number, BanState>;
  private readonly addresses: LRUCache<string, WindowState>;
  private readonly sweeper: RepeatingTask;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Number of instances that count separately; each allows its share. */
    private readonly instances = 1,
  ) {
    super();
    // `performance` is the default, but looked up when the module is loaded, before a test replaces it.
    const bounds = {
      max: MAX_ENTRIES,
      ttl: IDLE_MS,
      ttlResolution: SWEEP_MS,
      updateAgeOnGet: true,
      perf: performance,
    };
    this.clients = new LRUCache<number, ClientEntry>({
      ...bounds,
      fetchMethod: (clientId, before) => this.readClient(clientId, before),
      noDeleteOnFetchRejection: true,
      // Whoever waits for it still counts in it.
      ignoreFetchAbort: true,
    });
    this.bans = new LRUCache<number, BanState>(bounds);
    this.addresses = new LRUCache<string, WindowState>(bounds);
    const caches = [this.clients, this.bans, this.addresses];
    const work = () => caches.forEach((cache) => cache.purgeStale());
    this.sweeper = new RepeatingTask({ name: 'Evicting idle counters', work, everyMs: SWEEP_MS }).start();
  }

  onModuleDestroy(): void {
    void this.sweeper.stop();
  }

  async take(subject: Subject): Promise<Decision> {
    const { windows, bans, limits, now } = await this.stateOf(subject);
    const decision = decide(windows, bans, limits, now);
    if (subject.kind === 'client' && decision.outcome === 'allowed') {
      this.records.count(subject.clientId, windows, 1);
    } else if (subject.kind === 'client' && decision.earnedBanLevel > 0) {
      this.records.saveBan(subject.keyId, bans!, now);
    }
    return decision;
  }

  async refund(subject: Subject, { takenAt }: Taken): Promise<Standing> {
    const state = await this.stateOf(subject);
    const before = state.windows.dayCount;
    // The share of a whole day, so that all instances together refund at most the limit.
    refund(state.windows, shareOf(subject.limits, this.instances, 0), takenAt);
    if (subject.kind === 'client') {
      this.records.count(subject.clientId, state.windows, state.windows.dayCount - before);
    }
    return standingOf(state);
  }

  async look(subject: Subject): Promise<Standing> {
    return standingOf(await this.stateOf(subject));
  }

  flush(): Promise<void> {
    return this.records.flush();
  }

  /** Other instances may have counted: days are read again before use. Minutes are kept. */
  forgetDays(): void {
    for (const client of this.clients.values()) {
      client.isStale = true;
    }
  }

  /** What follows it in the same turn is one step: nobody else changes the state meanwhile. */
  private async stateOf(subject: Subject): Promise<SubjectState> {
    if (subject.kind === 'address') {
      const now = this.clock.now();
      return { windows: this.windowsOf(subject.address, now), bans: null, limits: this.share(subject), now };
    }
    const known = this.clients.get(subject.clientId);
    const isUsable = known !== undefined && !known.isStale;
    const client = isUsable
      ? known
      : (await this.clients.fetch(subject.clientId, { forceRefresh: known !== undefined }))!;
    const now = this.clock.now();
    if (subject.resetAt > client.resetAt) {
      Object.assign(client, { windows: newWindowState(now), usedBefore: 0, resetAt: subject.resetAt });
    }
    if (isDayOver(client.windows, now)) {
      client.usedBefore = 0;
    }
    const limits = this.share(subject, client.usedBefore);
    return { windows: client.windows, bans: this.bansOf(subject), limits, now };
  }

  private share({ limits }: Subject, usedBefore = 0): Limits {
    return this.instances === 1 ? limits : shareOf(limits, this.instances, usedBefore);
  }

  private windowsOf(address: string, now: number): WindowState {
    let windows = this.addresses.get(address);
    if (windows === undefined) {
      windows = newWindowState(now);
      this.addresses.set(address, windows);
    }
    return windows;
  }

  private bansOf({ keyId, ban }: ClientSubject): BanState {
    let bans = this.bans.get(keyId);
    if (bans === undefined) {
      bans = newBanState();
      this.bans.set(keyId, bans);
    }
    // A ban that is not yet written is newer than what the database has.
    if (!this.records.hasUnsavedBan(keyId)) {
      applyStoredBan(bans, ban);
    }
    return bans;
  }

  /** @param before what was known here: its minute goes on, unless it was reset */
  private async readClient(clientId: number, before?: ClientEntry): Promise<ClientEntry> {
    const usage = await this.records.usageOf(clientId);
    const { day, requests, resetAt } = usage;
    const windows = { ...newWindowState(this.clock.now()), day, dayCount: requests };
    const goesOn = before !== undefined && before.resetAt >= resetAt;
    if (goesOn || this.instances === 1) {
      const { minuteStart, minuteCount, minuteRefunds } = goesOn ? before.windows : usage;
      Object.assign(windows, { minuteStart, minuteCount, minuteRefunds });
    }
    if (goesOn && before.windows.day === day) {
      windows.dayRefunds = before.windows.dayRefunds;
    }
    return { windows, usedBefore: requests, resetAt, isStale: false };
  }
}
