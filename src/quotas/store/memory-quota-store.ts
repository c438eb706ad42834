import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { type BanState, isBanned, newBanState } from '../ban-rules';
import { type Decision, decide } from '../decision';
import { MINUTE_MS, type WindowState, handBack, newWindowState, standings } from '../rate-window';
import type { ClientSubject, Subject } from '../subject';
import { QuotaRecords } from './quota-records';
import { QuotaStore, type Standing } from './quota-store';

const SWEEP_MS = 10_000;
/** A client or key not seen for this long is forgotten here; the database knows its day and its bans. */
const IDLE_MS = 10 * MINUTE_MS;
/** Addresses are anybody's to invent, so their number is bounded; the oldest leave first. */
const MAX_ADDRESSES = 200_000;

interface ClientEntry {
  windows: WindowState;
  seenAt: number;
}

interface KeyEntry {
  bans: BanState;
  seenAt: number;
}

/** Counts in this process alone, exactly, and keeps the day's counts and the bans in the database. */
@Injectable()
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  private readonly clients = new Map<number, ClientEntry>();
  private readonly keys = new Map<number, KeyEntry>();
  private readonly addresses = new Map<string, WindowState>();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly sweeper: NodeJS.Timeout;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
  ) {
    super();
    this.sweeper = setInterval(() => void this.forgetIdle(), SWEEP_MS);
    this.sweeper.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.sweeper);
  }

  take(subject: Subject): Decision | Promise<Decision> {
    return this.with(subject, (windows, bans) => {
      const now = this.clock.now();
      const decision = decide(windows, bans, subject.limits, now);
      if (subject.kind === 'client') {
        this.remember(subject, decision, windows, bans!);
      }
      return decision;
    });
  }

  handBack(subject: Subject, takenAt: number): Standing | Promise<Standing> {
    return this.with(subject, (windows, bans) => {
      const before = windows.dayCount;
      handBack(windows, takenAt);
      if (subject.kind === 'client' && windows.dayCount < before) {
        this.records.count(subject.clientId, windows.day, -1);
      }
      return this.standingOf(subject, windows, bans);
    });
  }

  look(subject: Subject): Standing | Promise<Standing> {
    return this.with(subject, (windows, bans) => this.standingOf(subject, windows, bans));
  }

  /** Number of subjects in memory, by kind. */
  get size(): { clients: number; keys: number; addresses: number } {
    return { clients: this.clients.size, keys: this.keys.size, addresses: this.addresses.size };
  }

  private standingOf(subject: Subject, windows: WindowState, bans: BanState | null): Standing {
    const now = this.clock.now();
    return { standings: standings(windows, subject.limits, now), bans, decidedAt: now };
  }

  private remember(subject: ClientSubject, decision: Decision, windows: WindowState, bans: BanState): void {
    if (decision.outcome === 'allowed') {
      this.records.count(subject.clientId, windows.day, 1);
    } else if (decision.newlyBanned) {
      this.records.saveBan(subject.keyId, bans);
    }
  }

  /** Runs the step on the subject's state, at once when the state is in memory. */
  private with<Result>(
    subject: Subject,
    step: (windows: WindowState, bans: BanState | null) => Result,
  ): Result | Promise<Result> {
    if (subject.kind === 'address') {
      return step(this.windowsOfAddress(subject.address), null);
    }
    const client = this.clients.get(subject.clientId);
    const key = this.keys.get(subject.keyId);
    if (client && key) {
      client.seenAt = key.seenAt = this.clock.now();
      return step(client.windows, key.bans);
    }
    return this.load(subject).then(() => this.with(subject, step));
  }

  private windowsOfAddress(address: string): WindowState {
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

  private async load({ clientId, keyId }: ClientSubject): Promise<void> {
    await Promise.all([
      this.loadOnce(`client ${clientId}`, () => this.loadClient(clientId)),
      this.loadOnce(`key ${keyId}`, () => this.loadKey(keyId)),
    ]);
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
      windows.dayCount = await this.records.countOf(clientId, windows.day);
      this.clients.set(clientId, { windows, seenAt: this.clock.now() });
    }
  }

  private async loadKey(keyId: number): Promise<void> {
    if (!this.keys.has(keyId)) {
      const bans = { ...newBanState(), ...(await this.records.banOf(keyId)) };
      this.keys.set(keyId, { bans, seenAt: this.clock.now() });
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
