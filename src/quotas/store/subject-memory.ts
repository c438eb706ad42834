import type { Clock } from '#libs/clock';
import { type BanState, isBanned, newBanState } from '../ban-rules';
import { MINUTE_MS, type WindowState, newWindowState } from '../rate-window';
import type { ClientSubject } from '../subject';
import { AddressMemory } from './address-memory';
import type { QuotaRecords } from './quota-records';
import type { Uncounted } from './unwritten-counts';

const SWEEP_MS = 10_000;
/** A client or key not seen for this long is forgotten here; the database knows its day and its bans. */
const IDLE_MS = 10 * MINUTE_MS;

export interface ClientEntry extends Uncounted {
  windows: WindowState;
  /** The day on which the client was first seen here, and what it had used of it by then. */
  firstDay: number;
  usedBefore: number;
  /** Unix milliseconds of the reset that the windows know of; 0 for none. */
  resetAt: number;
  seenAt: number;
  /** No longer here: whoever still holds this entry has to look for another one. */
  forgotten: boolean;
}

/** A key holds its client's entry, so that a request costs one look-up. */
export interface KeyEntry {
  client: ClientEntry;
  bans: BanState;
  seenAt: number;
}

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
    key.seenAt = key.client.seenAt = now;
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
      const bans = this.keys.get(id)?.bans;
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
        Object.assign(client, { windows: newWindowState(now), usedBefore: 0, resetAt });
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
      const windows = newWindowState(this.clock.now());
      const { requests: usedBefore, resetAt } = await this.records.usedOf(clientId, windows.day);
      windows.dayCount = usedBefore;
      this.clients.set(clientId, {
        clientId,
        unwrittenDay: windows.day,
        unwritten: 0,
        windows,
        firstDay: windows.day,
        usedBefore,
        resetAt,
        seenAt: this.clock.now(),
        forgotten: false,
      });
    }
  }

  private async loadKey(clientId: number, keyId: number): Promise<void> {
    const known = this.keys.get(keyId);
    const bans = known?.bans ?? { ...newBanState(), ...(await this.records.banOf(keyId)) };
    const client = this.clients.get(clientId);
    // Everybody may have been forgotten while the ban was read; then it is all read again.
    if (client) {
      this.keys.set(keyId, { client, bans, seenAt: this.clock.now() });
    }
  }

  private async forgetIdle(): Promise<void> {
    const now = this.clock.now();
    this.addresses.forgetIdle(now);
    // What is not written yet would be lost when the state is read again. Others may be busy all the time, so what
    // waits is written here and now: whatever is idle has added nothing since.
    if (await this.records.flush()) {
      const idle = ({ seenAt }: { seenAt: number }) => Math.abs(now - seenAt) > IDLE_MS;
      forget(this.clients, idle);
      forget(this.keys, (key) => idle(key) && !isBanned(key.bans, now) && now >= key.bans.refusalsUntil);
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
