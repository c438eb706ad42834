import type { Clock } from '#libs/clock';
import { type BanState, isBanned, newBanState } from '../ban-rules';
import { MINUTE_MS, type WindowState, newWindowState } from '../rate-window';
import type { ClientSubject } from '../subject';
import type { QuotaRecords } from './quota-records';
import type { Uncounted } from './unwritten-counts';

const SWEEP_MS = 10_000;
/** A client or key not seen for this long is forgotten here; the database knows its day and its bans. */
const IDLE_MS = 10 * MINUTE_MS;
/** Addresses are anybody's to invent, so their number is bounded; the oldest leave first. */
const MAX_ADDRESSES = 200_000;

export interface ClientEntry extends Uncounted {
  windows: WindowState;
  /** The day on which the client was first seen here, and what it had used of it by then. */
  firstDay: number;
  usedBefore: number;
  /** Unix milliseconds of the reset that the windows know of; 0 for none. */
  resetAt: number;
  seenAt: number;
}

interface KeyEntry {
  clientId: number;
  bans: BanState;
  seenAt: number;
}

/** The states of everybody seen lately: bounded, and read from the database when somebody is first seen. */
export class SubjectMemory {
  private readonly clients = new Map<number, ClientEntry>();
  private readonly keys = new Map<number, KeyEntry>();
  private readonly addresses = new Map<string, WindowState>();
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

  /** The states of a client and its key; null when they have to be loaded first. */
  find({ clientId, keyId }: ClientSubject): { client: ClientEntry; bans: BanState } | null {
    const client = this.clients.get(clientId);
    const key = this.keys.get(keyId);
    if (!client || !key) {
      return null;
    }
    client.seenAt = key.seenAt = this.clock.now();
    return { client, bans: key.bans };
  }

  /** The clients and keys that were seen here. */
  known(): { clientId: number; keyId: number }[] {
    return [...this.keys].map(([keyId, { clientId }]) => ({ clientId, keyId }));
  }

  async load({ clientId, keyId }: ClientSubject): Promise<void> {
    await Promise.all([
      this.loadOnce(`client ${clientId}`, () => this.loadClient(clientId)),
      this.loadOnce(`key ${keyId}`, () => this.loadKey(clientId, keyId)),
    ]);
  }

  windowsOfAddress(address: string): WindowState {
    let windows = this.addresses.get(address);
    if (!windows) {
      if (this.addresses.size >= MAX_ADDRESSES) {
        this.addresses.delete(this.addresses.keys().next().value!);
      }
      windows = newWindowState(this.clock.now());
      this.addresses.set(address, windows);
    }
    return windows;
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
    this.clients.clear();
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
      });
    }
  }

  private async loadKey(clientId: number, keyId: number): Promise<void> {
    if (!this.keys.has(keyId)) {
      const bans = { ...newBanState(), ...(await this.records.banOf(keyId)) };
      this.keys.set(keyId, { clientId, bans, seenAt: this.clock.now() });
    }
  }

  private async forgetIdle(): Promise<void> {
    const now = this.clock.now();
    for (const [address, windows] of this.addresses) {
      if (now >= windows.minuteStart + MINUTE_MS) {
        this.addresses.delete(address);
      }
    }
    // What is not written yet would be lost when the state is read again. Others may be busy all the time, so what
    // waits is written here and now: whatever is idle has added nothing since.
    if (await this.records.flush()) {
      forgetUnseen(this.clients, now);
      forgetUnseen(this.keys, now, ({ bans }) => isBanned(bans, now) || now < bans.refusalsUntil);
    }
  }
}

function forgetUnseen<Entry extends { seenAt: number }>(
  entries: Map<number, Entry>,
  now: number,
  keep: (entry: Entry) => boolean = () => false,
): void {
  for (const [id, entry] of entries) {
    if (Math.abs(now - entry.seenAt) > IDLE_MS && !keep(entry)) {
      entries.delete(id);
    }
  }
}
