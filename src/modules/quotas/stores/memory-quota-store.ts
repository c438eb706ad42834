import type { OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Clock, RepeatingTask } from '#libs/clock';
import {
  applyStoredBan,
  type BanState,
  decide,
  type Decision,
  newBanState,
  type QuotaState,
  type QuotaStatus,
  statusOf,
} from '../rules/decision';
import {
  isDayOver,
  type Limits,
  MINUTE_MS,
  newWindowState,
  refund,
  shareOf,
  shareOfRest,
  type WindowState,
} from '../rules/limits';
import type { QuotaRecords } from './quota-records';
import { type LimitedClient, type LimitedKey, QuotaStore, type TakenRequest } from './quota-store';

const SWEEP_MS = MINUTE_MS;
/** Idle entries leave after this long: windows are over, or in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** Entries of a kind. Callers without a key can use any number of addresses; the least recently used leave first. */
const MAX_ENTRIES = 200_000;

const NEVER = -1;

interface ClientEntry {
  windows: WindowState;
  /** The client's daily count when it was read here. */
  usedBefore: number;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
  /** In which round of counting alone the day was read from the database; it is read again in a later one. */
  readInRound: number;
}

/** Counts in this process, and saves counts and bans in the database, from where a client's are read on first use. */
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  /** `fetch` reads once for all who ask meanwhile: a second copy would be a second quota. */
  private readonly clients: LRUCache<number, ClientEntry, Limits>;
  private readonly bans: LRUCache<number, BanState>;
  private readonly addresses: LRUCache<string, WindowState>;
  private readonly sweeper: RepeatingTask;
  /** Rounds of counting alone: another one begins when this instance counts alone again. */
  private round = 0;

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
    this.clients = new LRUCache<number, ClientEntry, Limits>({
      ...bounds,
      fetchMethod: (clientId, before, { context }) => this.readClient(clientId, context, before),
      noDeleteOnFetchRejection: true,
      // Whoever waits for it still counts in it.
      ignoreFetchAbort: true,
    });
    this.bans = new LRUCache<number, BanState>({ ...bounds, memoMethod: newBanState });
    const memoMethod = () => newWindowState(this.clock.now());
    this.addresses = new LRUCache<string, WindowState>({ ...bounds, memoMethod });
    const caches = [this.clients, this.bans, this.addresses];
    const work = () => caches.forEach((cache) => cache.purgeStale());
    this.sweeper = new RepeatingTask({ name: 'Evicting idle counters', work, everyMs: SWEEP_MS }).start();
  }

  onModuleDestroy(): void {
    void this.sweeper.stop();
  }

  async take(client: LimitedClient): Promise<Decision> {
    const { key } = client;
    const state = await this.stateOf(client);
    const decision = decide(state);
    if (key !== null && decision.outcome === 'allowed') {
      this.records.count(key.clientId, state.windows, 1);
    } else if (key !== null && decision.earnedBanLevel > 0) {
      this.records.saveBan(key.id, state.ban!, state.now);
    }
    return decision;
  }

  async refund(client: LimitedClient, { takenAt }: TakenRequest): Promise<QuotaStatus> {
    const state = await this.stateOf(client);
    const before = state.windows.dayCount;
    // The share of a whole day, so that all instances together refund at most the limit.
    refund(state.windows, shareOf(client.limits, this.instances, 0), takenAt);
    if (client.key !== null) {
      this.records.count(client.key.clientId, state.windows, state.windows.dayCount - before);
    }
    return statusOf(state);
  }

  async read(client: LimitedClient): Promise<QuotaStatus> {
    return statusOf(await this.stateOf(client));
  }

  flush(): Promise<void> {
    return this.records.flush();
  }

  /** What the instances have counted together: a count of this one alone would begin there, with its share of what is left. */
  startFrom(client: LimitedClient, counted: WindowState): void {
    const windows = shareOfRest(counted, client.limits, this.instances);
    if (client.key === null) {
      this.addresses.set(client.tracker, windows);
    } else {
      const { clientId, resetAt } = client.key;
      this.clients.set(clientId, { windows, usedBefore: 0, resetAt, readInRound: NEVER });
    }
  }

  /** Other instances may have counted: days are read again before use. Minutes are kept. */
  rereadDays(): void {
    this.round += 1;
  }

  /** The instances count together again, so what this one has counted alone is over. */
  clear(): void {
    this.clients.clear();
    this.addresses.clear();
  }

  /** What follows it in the same turn is one step: nobody else changes the state meanwhile. */
  private async stateOf({ key, tracker, limits: agreed }: LimitedClient): Promise<QuotaState> {
    const { perMinute } = agreed;
    if (key === null) {
      const now = this.clock.now();
      const windows = this.addresses.memo(tracker);
      return { windows, ban: null, limits: this.shareOf(agreed), perMinute, now };
    }
    const known = this.clients.get(key.clientId);
    const isUsable = known?.readInRound === this.round;
    const client = isUsable
      ? known
      : (await this.clients.fetch(key.clientId, { context: agreed, forceRefresh: known !== undefined }))!;
    const now = this.clock.now();
    if (key.resetAt > client.resetAt) {
      Object.assign(client, { windows: newWindowState(now), usedBefore: 0, resetAt: key.resetAt });
    }
    if (isDayOver(client.windows, now)) {
      client.usedBefore = 0;
    }
    const limits = this.shareOf(agreed, client.usedBefore);
    return { windows: client.windows, ban: this.banOf(key), limits, perMinute, now };
  }

  private shareOf(limits: Limits, usedBefore = 0): Limits {
    return this.instances === 1 ? limits : shareOf(limits, this.instances, usedBefore);
  }

  private banOf({ id, ban }: LimitedKey): BanState {
    const state = this.bans.memo(id);
    // A ban that is not yet written is newer than what the database has.
    if (!this.records.hasUnsavedBan(id)) {
      applyStoredBan(state, ban);
    }
    return state;
  }

  /** @param before what was known here: its minute goes on, unless it was reset */
  private async readClient(clientId: number, limits: Limits, before?: ClientEntry): Promise<ClientEntry> {
    const readInRound = this.round;
    const { windows, resetAt } = await this.records.usageOf(clientId);
    const goesOn = before !== undefined && before.resetAt >= resetAt;
    const { minuteStart, minuteCount, minuteRefunds } = goesOn
      ? before.windows
      : shareOfRest(windows, limits, this.instances);
    Object.assign(windows, { minuteStart, minuteCount, minuteRefunds });
    return { windows, usedBefore: windows.dayCount, resetAt, readInRound };
  }
}
