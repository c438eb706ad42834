import type { Clock } from '#libs/clock';
import { isBanned, newBanState } from '../ban-rules';
import { MINUTE_MS, newWindowState } from '../rate-window';
import type { ClientSubject } from '../subject';
import { AddressMemory } from './address-memory';
import type { QuotaRecords } from './quota-records';
import { type ClientEntry, type KeyEntry, clientEntry, keyEntry, secondsOf } from './subject-entries';

const SWEEP_MS = 10_000;
/** A client or key not seen for this long is forgotten here; the database knows its day and its bans. */
const IDLE_SECONDS = (10 * MINUTE_MS) / 1000;

/** The states of everybody seen lately: bounded, and read from the database when somebody is first seen. */
export class SubjectMemory {
  private readonly clients = new Map<number, ClientEntry>();
  private readonly keys = new Map<number, KeyEntry>();
  readonly addresses = new AddressMemory();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly sweeper: NodeJS.Timeout;

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
    const key = this.keys.get(keyId);
    if (key === undefined || key.client.forgotten) {
      return undefined;
    }
    key.seenAt = key.client.seenAt = secondsOf(now);
    return key;
  }

  /** The clients and keys that were seen here. */
  known(): { clientId: number; keyId: number }[] {
    return [...this.keys].map(([keyId, { client }]) => ({ clientId: client.clientId, keyId }));
  }

  async load({ clientId, keyId }: ClientSubject): Promise<void> {
    await this.loadOnce(`client ${clientId}`, () => this.loadClient(clientId));
    await this.loadOnce(`key ${keyId}`, () => this.loadKey(clientId, keyId));
  }

  /** Reads the bans of a key, or of all keys known here, anew. */
  async reloadBans(keyId?: number): Promise<void> {
    const known = keyId === undefined ? [...this.keys.keys()] : [keyId].filter((id) => this.keys.has(id));
    for (const id of known) {
      const { level = 0, bannedUntil = 0 } = (await this.records.banOf(id)) ?? {};
      const bans = this.keys.get(id);
      // A ban made here that is still to be written is newer than anything the database knows.
      if (bans && !this.records.hasUnsavedBan(id)) {
        Object.assign(bans, { level, bannedUntil });
      }
    }
  }

  /** Begins windows anew whose reset is not known here yet: the one of a client, or any of today's. */
  async reloadResets(clientId?: number): Promise<void> {
    const now = this.clock.now();
    for (const { clientId: id, resetAt } of await this.records.resets(clientId)) {
      const client = this.clients.get(id);
      if (client && client.resetAt < resetAt) {
        Object.assign(client, newWindowState(now), { usedBefore: 0, resetAt });
      }
    }
  }

  /** Forgets everybody: what is known here was overtaken by what was counted elsewhere. */
  forgetAll(): void {
    forget(this.clients, () => true);
    this.keys.clear();
    this.addresses.clear();
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
    if (!this.clients.has(clientId)) {
      const now = this.clock.now();
      const { day } = newWindowState(now);
      this.clients.set(clientId, clientEntry(clientId, now, await this.records.usedOf(clientId, day)));
    }
  }

  private async loadKey(clientId: number, keyId: number): Promise<void> {
    const bans = this.keys.get(keyId) ?? { ...newBanState(), ...(await this.records.banOf(keyId)) };
    const client = this.clients.get(clientId);
    // Everybody may have been forgotten while the ban was read; then it is all read again.
    if (client) {
      this.keys.set(keyId, keyEntry(client, bans, this.clock.now()));
    }
  }

  private async forgetIdle(): Promise<void> {
    const now = this.clock.now();
    this.addresses.forgetIdle(now);
    // What is not written yet would be lost when the state is read again. Others may be busy all the time, so what
    // waits is written here and now: whatever is idle has added nothing since.
    if (await this.records.flush()) {
      const idle = ({ seenAt }: { seenAt: number }) => Math.abs(secondsOf(now) - seenAt) > IDLE_SECONDS;
      forget(this.clients, idle);
      forget(this.keys, (key) => idle(key) && !isBanned(key, now) && now >= key.refusalsUntil);
    }
  }
}

function forget<Entry extends ClientEntry | KeyEntry>(
  entries: Map<number, Entry>,
  isToGo: (entry: Entry) => boolean,
): void {
  for (const [id, entry] of entries) {
    if (isToGo(entry)) {
      if ('forgotten' in entry) {
        entry.forgotten = true;
      }
      entries.delete(id);
    }
  }
}
