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
/** Clients and keys idle for this long are evicted; their day and bans are in the database. */
const IDLE_SECONDS = (10 * MINUTE_MS) / 1000;

const NEVER_BANNED = { level: 0, bannedUntil: 0, byOperator: false };

/** Cached state of recent clients, keys and addresses; loaded from the database on first use. */
export class SubjectMemory {
  private readonly clients = new Entries<ClientEntry>();
  /** A fresh key always has a fresh client, so looking up the key is enough. */
  private readonly keys = new Entries<KeyEntry>();
  readonly addresses = new AddressMemory();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly sweeper: NodeJS.Timeout;
  /** Increases with each change, so that a read which a change has overtaken is repeated. */
  private changes = 0;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
  ) {
    this.sweeper = setInterval(() => void this.forgetIdle(), SWEEP_MS);
    this.sweeper.unref();
  }

  /** Stops evicting idle entries. */
  close(): void {
    clearInterval(this.sweeper);
  }

  /** Number of subjects, by kind. */
  get size(): { clients: number; keys: number; addresses: number } {
    return { clients: this.clients.size, keys: this.keys.size, addresses: this.addresses.size };
  }

  /** The state of a key and its client; undefined if it must be loaded first. */
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

  /** Reloads the ban of a key, or all bans that may have changed. */
  async reloadBans(keyId?: number): Promise<void> {
    this.changes += 1;
    for (const { keyId: id, level, bannedUntil, byOperator } of await this.records.bans(keyId)) {
      const key = this.keys.known(id);
      // A ban that is not yet written is newer than the database.
      if (key && !this.records.hasUnsavedBan(id)) {
        Object.assign(key, { level, bannedUntil, byOperator });
      }
    }
  }

  /** Applies the reset of a client, or all resets of today, that are not applied yet. */
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

  /** Days and bans are read again before use, because other processes may have changed them. Minutes are kept. */
  markStale(): void {
    this.changes += 1;
    this.clients.markAllStale();
    this.keys.markAllStale();
  }

  /** Requests for the same state share one load: a second copy would be a second quota. */
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
    const ban = await this.unchanged(() => this.records.readBan(keyId));
    const known = this.keys.known(keyId);
    const client = this.clients.find(clientId);
    // The client may have been evicted or marked stale in the meantime; then both are read again.
    if (client) {
      // A ban that is not yet written is newer than what was read.
      const read = known && this.records.hasUnsavedBan(keyId) ? {} : (ban ?? NEVER_BANNED);
      const bans = { ...newBanState(), ...known, ...read };
      this.keys.set(keyId, keyEntry(client, bans, this.clock.now()));
    }
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

  private async forgetIdle(): Promise<void> {
    const now = this.clock.now();
    this.addresses.forgetIdle(now);
    // Eviction would lose unwritten counts, so they are written first. Idle entries add no more counts afterwards.
    if (await this.records.flush()) {
      const idle = (entry: ClientEntry | KeyEntry) => isIdle(entry, now, IDLE_SECONDS);
      this.clients.sweep((client) => (idle(client) ? 'forget' : 'keep'));
      this.keys.sweep((key) => {
        if (idle(key) && !isBanned(key, now) && now >= key.refusalsUntil) {
          return 'forget';
        }
        return idle(key.client) ? 'mark stale' : 'keep';
      });
    }
  }
}
