import type { OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Clock, RepeatingTask } from '#libs/clock';
import { type BanState, decide, type Decision, newBanState } from '../rules/decision';
import {
  isDayOver,
  type Limits,
  MINUTE_MS,
  newWindowState,
  refund,
  shareOf,
  standings,
  type WindowState,
} from '../rules/limits';
import { type QuotaRecords, type StoredState, shareRead } from './quota-records';
import {
  type Change,
  type ClientSubject,
  QuotaStore,
  type Receipt,
  type Standing,
  type Subject,
} from './quota-store';

const SWEEP_MS = 10_000;
/** Clients idle for this long are evicted with their keys; their day and bans are in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** Bounded, because clients can use any number of addresses; the least recently used are evicted first. */
const MAX_ADDRESSES = 200_000;

interface ClientEntry {
  clientId: number;
  /** Refunds are not persisted, so their count restarts with the service. */
  windows: WindowState;
  /** The client's daily count when it was read here. */
  usedBefore: number;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
  seenAt: number;
  /** The day must be read again before use, because other processes may have counted. */
  isStale: boolean;
}

interface KeyEntry {
  client: ClientEntry;
  bans: BanState;
  isStale: boolean;
}

/** Counts in this process, and persists daily counts and bans in the database, from where they are read on first use. */
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  private readonly clients = new Map<number, ClientEntry>();
  private readonly keys = new Map<number, KeyEntry>();
  private readonly addresses = new LRUCache<string, WindowState>({ max: MAX_ADDRESSES });
  private readonly reading = new Map<number, Promise<void>>();
  private readonly sweeper: RepeatingTask;
  /** Increases with each change, so that a read which a change has overtaken is repeated. */
  private changes = 0;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Number of instances that count separately; each allows its share. */
    private readonly instances = 1,
  ) {
    super();
    const work = () => this.evictIdle();
    this.sweeper = new RepeatingTask({ name: 'Evicting idle counters', work, everyMs: SWEEP_MS }).start();
  }

  onModuleDestroy(): void {
    void this.sweeper.stop();
  }

  /** Number of subjects in memory, by kind. */
  get size(): { clients: number; keys: number; addresses: number } {
    return { clients: this.clients.size, keys: this.keys.size, addresses: this.addresses.size };
  }

  take(subject: Subject): Decision | Promise<Decision> {
    const now = this.clock.now();
    if (subject.kind === 'address') {
      const windows = this.windowsOf(subject.address, now);
      return decide(windows, null, this.limitsOf(subject, null, now), now);
    }
    const key = this.find(subject, now);
    if (key === undefined) {
      return this.read(subject).then(() => this.take(subject));
    }
    const { client, bans } = key;
    const decision = decide(client.windows, bans, this.limitsOf(subject, client, now), now);
    if (decision.outcome === 'allowed') {
      this.records.count(subject.clientId, client.windows, 1);
    } else if (decision.earnedBanLevel > 0) {
      this.records.saveBan(subject.keyId, bans, now);
    }
    return decision;
  }

  refund(subject: Subject, { takenAt }: Receipt): Standing | Promise<Standing> {
    return this.lookAt(subject, (windows) => {
      const before = windows.dayCount;
      // The share of a whole day, so that all instances together refund at most the limit.
      refund(windows, shareOf(subject.limits, this.instances, 0), takenAt);
      if (subject.kind === 'client' && windows.dayCount < before) {
        this.records.count(subject.clientId, windows, -1);
      }
    });
  }

  look(subject: Subject): Standing | Promise<Standing> {
    return this.lookAt(subject, () => undefined);
  }

  /** Days and bans are read again before use; minutes are kept, unless they were reset. */
  async reload({ keyId, clientId }: Change): Promise<void> {
    this.changes += 1;
    if (keyId !== undefined) {
      const key = this.keys.get(keyId);
      if (key) {
        key.isStale = true;
      }
    } else if (clientId !== undefined) {
      const [reset] = await this.records.resets(clientId);
      const client = this.clients.get(clientId);
      if (reset && client && client.resetAt < reset.resetAt) {
        const windows = newWindowState(this.clock.now());
        Object.assign(client, { windows, usedBefore: 0, resetAt: reset.resetAt });
      }
    } else {
      this.clients.forEach((client) => (client.isStale = true));
      this.keys.forEach((key) => (key.isStale = true));
    }
  }

  flush(): Promise<boolean> {
    return this.records.flush();
  }

  /** Applies a change, if any, and returns the subject's standing. */
  private lookAt(subject: Subject, change: (windows: WindowState) => void): Standing | Promise<Standing> {
    const now = this.clock.now();
    if (subject.kind === 'address') {
      const windows = this.windowsOf(subject.address, now);
      change(windows);
      const limits = this.limitsOf(subject, null, now);
      return { standings: standings(windows, limits, now), bans: null, decidedAt: now };
    }
    const key = this.find(subject, now);
    if (key === undefined) {
      return this.read(subject).then(() => this.lookAt(subject, change));
    }
    const { client, bans } = key;
    change(client.windows);
    const limits = this.limitsOf(subject, client, now);
    return { standings: standings(client.windows, limits, now), bans: { ...bans }, decidedAt: now };
  }

  /** This instance's share of the subject's limits. */
  private limitsOf({ limits }: Subject, client: ClientEntry | null, now: number): Limits {
    if (this.instances === 1) {
      return limits;
    }
    if (client !== null && isDayOver(client.windows, now)) {
      client.usedBefore = 0;
    }
    return shareOf(limits, this.instances, client?.usedBefore ?? 0);
  }

  /** The state of a key and its client; undefined if it must be read first. */
  private find({ keyId }: ClientSubject, now: number): KeyEntry | undefined {
    const key = this.keys.get(keyId);
    if (key === undefined || key.isStale || key.client.isStale) {
      return undefined;
    }
    key.client.seenAt = now;
    return key;
  }

  private windowsOf(address: string, now: number): WindowState {
    let windows = this.addresses.get(address);
    if (windows === undefined) {
      windows = newWindowState(now);
      this.addresses.set(address, windows);
    }
    return windows;
  }

  /** Requests for the same state share one read: a second copy would be a second quota. */
  private read(subject: ClientSubject): Promise<void> {
    return shareRead(this.reading, subject.keyId, () => this.readOnce(subject));
  }

  private async readOnce({ clientId, keyId }: ClientSubject): Promise<void> {
    let changes: number;
    let stored: StoredState;
    do {
      ({ changes } = this);
      stored = await this.records.read(clientId, keyId);
    } while (changes !== this.changes);

    const client = this.clientWith(clientId, stored);
    let key = this.keys.get(keyId);
    if (key === undefined) {
      key = { client, bans: newBanState(), isStale: true };
      this.keys.set(keyId, key);
    }
    Object.assign(key, { client, isStale: false });
    // A ban that is not yet written is newer than the database.
    if (!this.records.hasUnsavedBan(keyId)) {
      Object.assign(key.bans, stored.ban);
    }
  }

  /** The client's entry, with the day as it was read unless it is known already. The minute is kept, unless it was reset. */
  private clientWith(clientId: number, { day, requests, resetAt }: StoredState): ClientEntry {
    const now = this.clock.now();
    let client = this.clients.get(clientId);
    if (client === undefined) {
      client = {
        clientId,
        windows: newWindowState(now),
        usedBefore: 0,
        resetAt: 0,
        seenAt: now,
        isStale: true,
      };
      this.clients.set(clientId, client);
    }
    client.seenAt = now;
    if (client.isStale) {
      if (resetAt > client.resetAt) {
        client.windows = newWindowState(now);
      }
      if (day !== client.windows.day) {
        client.windows.dayRefunds = 0;
      }
      Object.assign(client.windows, { day, dayCount: requests });
      Object.assign(client, { usedBefore: requests, resetAt, isStale: false });
    }
    return client;
  }

  private async evictIdle(): Promise<void> {
    const now = this.clock.now();
    for (const [address, { minuteStart }] of [...this.addresses.entries()]) {
      if (now >= minuteStart + MINUTE_MS) {
        this.addresses.delete(address);
      }
    }
    // Counts that are not yet written would be missing when the client is read again.
    if (!(await this.records.flush())) {
      return;
    }
    // A running series of refusals is nowhere else.
    const refused = new Set(
      [...this.keys.values()].map((key) => (now < key.bans.refusalsUntil ? key.client : null)),
    );
    for (const [id, client] of this.clients) {
      // The absolute difference, so that setting back the clock does not keep entries indefinitely.
      if (Math.abs(now - client.seenAt) > IDLE_MS && !refused.has(client)) {
        this.clients.delete(id);
      }
    }
    for (const [id, { client }] of this.keys) {
      if (!this.clients.has(client.clientId)) {
        this.keys.delete(id);
      }
    }
  }
}
