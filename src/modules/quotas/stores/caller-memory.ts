import { LRUCache } from 'lru-cache';
import { type Clock, RepeatingTask } from '#libs/clock';
import type { BanState, StoredBan } from '../rules/ban-rules';
import { MINUTE_MS, type WindowState, newWindowState } from '../rules/rate-window';
import type { QuotaRecords, StoredUsage } from './quota-records';
import type { ClientSubject } from './quota-store';

const SWEEP_MS = 10_000;
/** Clients idle for this long are evicted with their keys; their day and bans are in the database. */
const IDLE_MS = 10 * MINUTE_MS;
/** Bounded, because clients can use any number of addresses; the least recently used are evicted first. */
const MAX_ADDRESSES = 200_000;

export interface ClientEntry extends WindowState {
  clientId: number;
  /** The client's daily count when it was read here. */
  usedBefore: number;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
  seenAt: number;
  /** The day must be read again before use, because other processes may have counted. */
  isStale: boolean;
}

export interface KeyEntry extends BanState {
  client: ClientEntry;
  isStale: boolean;
}

/** The state of recent clients, keys and addresses; read from the database on first use. */
export class CallerMemory {
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
  ) {
    const work = () => this.evictIdle();
    this.sweeper = new RepeatingTask({ name: 'Evicting idle counters', work, everyMs: SWEEP_MS }).start();
  }

  /** Stops evicting. */
  close(): void {
    void this.sweeper.stop();
  }

  /** Number of entries, by kind. */
  get size(): { clients: number; keys: number; addresses: number } {
    return { clients: this.clients.size, keys: this.keys.size, addresses: this.addresses.size };
  }

  /** The state of a key and its client; undefined if it must be read first. */
  find({ keyId }: ClientSubject, now: number): KeyEntry | undefined {
    const key = this.keys.get(keyId);
    if (key === undefined || key.isStale || key.client.isStale) {
      return undefined;
    }
    key.client.seenAt = now;
    return key;
  }

  windowsOf(address: string, now: number): WindowState {
    let windows = this.addresses.get(address);
    if (windows === undefined) {
      windows = newWindowState(now);
      this.addresses.set(address, windows);
    }
    return windows;
  }

  /** Requests for the same state share one read: a second copy would be a second quota. */
  read(subject: ClientSubject): Promise<void> {
    const { keyId } = subject;
    let reading = this.reading.get(keyId);
    if (reading === undefined) {
      reading = this.readOnce(subject).finally(() => this.reading.delete(keyId));
      this.reading.set(keyId, reading);
    }
    return reading;
  }

  /** Reloads the ban of a key, or all bans that may have changed. */
  async reloadBans(keyId?: number): Promise<void> {
    this.changes += 1;
    for (const ban of await this.records.bans(keyId)) {
      const key = this.keys.get(ban.keyId);
      // A ban that is not yet written is newer than the database.
      if (key && !this.records.hasUnsavedBan(ban.keyId)) {
        setBan(key, ban);
      }
    }
  }

  /** Applies the reset of a client, or all resets of today, that are not applied yet. */
  async reloadResets(clientId?: number): Promise<void> {
    this.changes += 1;
    const now = this.clock.now();
    for (const { clientId: id, resetAt } of await this.records.resets(clientId)) {
      const client = this.clients.get(id);
      if (client && client.resetAt < resetAt) {
        Object.assign(client, newWindowState(now), { usedBefore: 0, resetAt });
      }
    }
  }

  /** Days and bans are read again before use, because other processes may have changed them. Minutes are kept. */
  markStale(): void {
    this.changes += 1;
    this.clients.forEach((client) => (client.isStale = true));
    this.keys.forEach((key) => (key.isStale = true));
  }

  private async readOnce({ clientId, keyId }: ClientSubject): Promise<void> {
    const { ban, ...usage } = await this.unchanged(() => this.records.read(clientId, keyId));
    const client = this.clientWith(clientId, usage);
    const known = this.keys.get(keyId);
    if (known === undefined) {
      this.keys.set(keyId, newKeyEntry(client, ban));
      return;
    }
    known.client = client;
    known.isStale = false;
    if (!this.records.hasUnsavedBan(keyId)) {
      setBan(known, ban);
    }
  }

  /** The client's entry, with the day as it was read unless it is known already. The minute is kept, unless it was reset. */
  private clientWith(clientId: number, { day, requests, resetAt }: StoredUsage): ClientEntry {
    const now = this.clock.now();
    let client = this.clients.get(clientId);
    if (client === undefined) {
      client = newClientEntry(clientId, now);
      this.clients.set(clientId, client);
    }
    client.seenAt = now;
    if (client.isStale) {
      if (resetAt > client.resetAt) {
        Object.assign(client, newWindowState(now));
      }
      if (day !== client.day) {
        client.dayRefunds = 0;
      }
      Object.assign(client, { day, dayCount: requests, usedBefore: requests, resetAt, isStale: false });
    }
    return client;
  }

  /** Repeats the read if a change has overtaken it. */
  private async unchanged<Value>(read: () => Promise<Value>): Promise<Value> {
    for (;;) {
      const { changes } = this;
      const value = await read();
      if (changes === this.changes) {
        return value;
      }
    }
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
      [...this.keys.values()].map((key) => (now < key.refusalsUntil ? key.client : null)),
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

// Flat literals without spread: with 100,000 of them, objects made by spread are several times slower to read.

function newClientEntry(clientId: number, now: number): ClientEntry {
  const { minuteStart, minuteCount, minuteRefunds, day, dayCount, dayRefunds } = newWindowState(now);
  return {
    minuteStart,
    minuteCount,
    minuteRefunds,
    day,
    dayCount,
    // Refunds are not persisted, so their count restarts with the service.
    dayRefunds,
    clientId,
    usedBefore: 0,
    resetAt: 0,
    seenAt: now,
    isStale: true,
  };
}

function newKeyEntry(client: ClientEntry, { level, bannedUntil, byOperator }: StoredBan): KeyEntry {
  const [refusals, refusedSince, refusalsUntil] = [0, 0, 0];
  return { client, refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator, isStale: false };
}

function setBan(key: KeyEntry, { level, bannedUntil, byOperator }: StoredBan): void {
  Object.assign(key, { level, bannedUntil, byOperator });
}
