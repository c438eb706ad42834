import type { Clock } from '#libs/clock';
import { isBanned, newBanState } from '../rules/ban-rules';
import { MINUTE_MS, newWindowState } from '../rules/rate-window';
import type { ClientSubject } from './subject';
import { AddressMemory } from './address-memory';
import type { QuotaRecords } from './quota-records';
import { Entries } from './entries';
import {
  type ClientEntry,
  type KeyEntry,
  clientEntry,
  isIdle,
  keyEntry,
  secondsOf,
  takeOverDay,
} from './subject-entries';

const SWEEP_MS = 10_000;
/** A client or key not seen for this long is forgotten here; the database knows its day and its bans. */
const IDLE_SECONDS = (10 * MINUTE_MS) / 1000;

const NEVER_BANNED = { level: 0, bannedUntil: 0 };

/** The states of everybody seen lately: bounded, and read from the database when somebody is first seen. */
export class SubjectMemory {
  private readonly clients = new Entries<ClientEntry>();
  /** A fresh key's client is fresh, too: a request needs the key's look-up only. */
  private readonly keys = new Entries<KeyEntry>();
  readonly addresses = new AddressMemory();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly sweeper: NodeJS.Timeout;
  /** Counts the changes heard of, so that a reading which was overtaken by one is not remembered. */
  private changes = 0;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
  ) {
    this.sweeper = setInterval(() => void this.forgetIdle(), SWEEP_MS);
    this.sweeper.unref();
  }

  /** Stops looking for the idle. */
  close(): void {
    clearInterval(this.sweeper);
  }

  /** Number of subjects, by kind. */
  get size(): { clients: number; keys: number; addresses: number } {
    return { clients: this.clients.size, keys: this.keys.size, addresses: this.addresses.size };
  }

  /** The states of a client and its key; undefined when they have to be loaded first. */
  find({ keyId }: ClientSubject, now: number): KeyEntry | undefined {
    const key = this.keys.find(keyId);
    if (key !== undefined) {
      key.seenAt = key.client.seenAt = secondsOf(now);
    }
    return key;
  }

  async load({ clientId, keyId }: ClientSubject): Promise<void> {
    await this.loadOnce(`client ${clientId}`, () => this.loadClient(clientId));
    await this.loadOnce(`key ${keyId}`, () => this.loadKey(clientId, keyId));
  }

  /** Takes over the ban of a key, or every ban that may have been changed while nobody listened. */
  async reloadBans(keyId?: number): Promise<void> {
    this.changes += 1;
    for (const { keyId: id, level, bannedUntil } of await this.records.bans(keyId)) {
      const key = this.keys.known(id);
      // A ban made here that is still to be written is newer than anything the database knows.
      if (key && !this.records.hasUnsavedBan(id)) {
        Object.assign(key, { level, bannedUntil });
      }
    }
  }

  /** Begins windows anew whose reset is not known here yet: the one of a client, or any of today's. */
  async reloadResets(clientId?: number): Promise<void> {
    this.changes += 1;
    const now = this.clock.now();
    for (const { clientId: id, resetAt } of await this.records.resets(clientId)) {
      const client = this.clients.known(id);
      if (client && client.resetAt < resetAt) {
        Object.assign(client, newWindowState(now), { usedBefore: 0, resetAt });
      }
    }
  }

  /** Has days and bans read again before they are used: they may have been counted elsewhere. Minutes stand. */
  markStale(): void {
    this.changes += 1;
    this.clients.markAllStale();
    this.keys.markAllStale();
  }

  /** All requests that wait for the same state share one look-up: a second state would count a second quota. */
  private loadOnce(name: string, load: () => Promise<void>): Promise<void> {
    let loading = this.loading.get(name);
    if (!loading) {
      loading = load().finally(() => this.loading.delete(name));
      this.loading.set(name, loading);
    }
    return loading;
  }

  private async loadClient(clientId: number): Promise<void> {
    if (this.clients.find(clientId)) {
      return;
    }
    const { day } = newWindowState(this.clock.now());
    const used = await this.unchanged(() => this.records.usedOf(clientId, day));
    const now = this.clock.now();
    const read = clientEntry(clientId, now, used);
    const known = this.clients.known(clientId);
    if (known) {
      takeOverDay(known, read);
    }
    this.clients.set(clientId, known ?? read);
  }

  private async loadKey(clientId: number, keyId: number): Promise<void> {
    const ban = await this.unchanged(() => this.records.banOf(keyId));
    const known = this.keys.known(keyId);
    const client = this.clients.find(clientId);
    // Its client may have become stale or been forgotten meanwhile; then both are read again.
    if (client) {
      // A ban made here that is still to be written is newer than what was read.
      const read = known && this.records.hasUnsavedBan(keyId) ? {} : (ban ?? NEVER_BANNED);
      const bans = { ...newBanState(), ...known, ...read };
      this.keys.set(keyId, keyEntry(client, bans, this.clock.now()));
    }
  }

  /** Reads once more what somebody has changed while it was read. */
  private async unchanged<Value>(read: () => Promise<Value>): Promise<Value> {
    for (;;) {
      const { changes } = this;
      const value = await read();
      if (changes === this.changes) {
        return value;
      }
    }
  }

  private async forgetIdle(): Promise<void> {
    const now = this.clock.now();
    this.addresses.forgetIdle(now);
    // What is not written yet would be lost when the state is read again. Others may be busy all the time, so what
    // waits is written here and now: whatever is idle has added nothing since.
    if (await this.records.flush()) {
      const idle = (entry: ClientEntry | KeyEntry) => isIdle(entry, now, IDLE_SECONDS);
      this.clients.lookThrough((client) => (idle(client) ? 'forget' : 'keep'));
      this.keys.lookThrough((key) => {
        if (idle(key) && !isBanned(key, now) && now >= key.refusalsUntil) {
          return 'forget';
        }
        return idle(key.client) ? 'mark stale' : 'keep';
      });
    }
  }
}
