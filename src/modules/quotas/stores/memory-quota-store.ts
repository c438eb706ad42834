import type { OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { type Decision, decide } from '../rules/decision';
import { shareOf } from '../rules/plans';
import { type Limits, type WindowState, isDayOver, refund, standings } from '../rules/rate-window';
import { CallerMemory, type ClientEntry, type KeyEntry } from './caller-memory';
import type { QuotaRecords } from './quota-records';
import { QuotaStore, type Receipt, type Standing, type Subject } from './quota-store';

/** Counts in this process, and persists daily counts and bans in the database. */
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  private readonly memory: CallerMemory;

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Number of instances that count separately; each allows its share. */
    private readonly instances = 1,
  ) {
    super();
    this.memory = new CallerMemory(records, clock);
  }

  onModuleDestroy(): void {
    this.memory.close();
  }

  take(subject: Subject): Decision | Promise<Decision> {
    const now = this.clock.now();
    if (subject.kind === 'address') {
      const windows = this.memory.windowsOf(subject.address, now);
      return decide(windows, null, this.limitsOf(subject, null, now), now);
    }
    const key = this.memory.find(subject, now);
    if (key === undefined) {
      return this.memory.read(subject).then(() => this.take(subject));
    }
    const { client } = key;
    const decision = decide(client, key, this.limitsOf(subject, client, now), now);
    if (decision.outcome === 'allowed') {
      this.records.count(subject.clientId, client.day, 1);
    } else if (decision.earnedBanLevel > 0) {
      this.records.saveBan(subject.keyId, key, now);
    }
    return decision;
  }

  refund(subject: Subject, { takenAt }: Receipt): Standing | Promise<Standing> {
    return this.lookAt(subject, (windows) => {
      const before = windows.dayCount;
      // The share of a whole day, so that all instances together refund at most the limit.
      refund(windows, shareOf(subject.limits, this.instances, 0), takenAt);
      if (subject.kind === 'client' && windows.dayCount < before) {
        this.records.count(subject.clientId, windows.day, -1);
      }
    });
  }

  look(subject: Subject): Standing | Promise<Standing> {
    return this.lookAt(subject, () => undefined);
  }

  reloadBans(keyId?: number): Promise<void> {
    return this.memory.reloadBans(keyId);
  }

  reloadResets(clientId?: number): Promise<void> {
    return this.memory.reloadResets(clientId);
  }

  /** Days and bans are read again before use; minutes are kept. */
  reloadDays(): Promise<void> {
    this.memory.markStale();
    return Promise.resolve();
  }

  flush(): Promise<boolean> {
    return this.records.flush();
  }

  /** Number of subjects in memory, by kind. */
  get size(): CallerMemory['size'] {
    return this.memory.size;
  }

  /** Applies a change, if any, and returns the subject's standing. */
  private lookAt(subject: Subject, change: (windows: WindowState) => void): Standing | Promise<Standing> {
    const now = this.clock.now();
    let windows: WindowState;
    let key: KeyEntry | null = null;
    if (subject.kind === 'address') {
      windows = this.memory.windowsOf(subject.address, now);
    } else {
      const found = this.memory.find(subject, now);
      if (found === undefined) {
        return this.memory.read(subject).then(() => this.lookAt(subject, change));
      }
      key = found;
      windows = found.client;
    }
    change(windows);
    return {
      standings: standings(windows, this.limitsOf(subject, key?.client ?? null, now), now),
      bans: key && bansOf(key),
      decidedAt: now,
    };
  }

  /** This instance's share of the subject's limits. */
  private limitsOf({ limits }: Subject, client: ClientEntry | null, now: number): Limits {
    if (this.instances === 1) {
      return limits;
    }
    if (client !== null && isDayOver(client, now)) {
      client.usedBefore = 0;
    }
    return shareOf(limits, this.instances, client?.usedBefore ?? 0);
  }
}

function bansOf(key: KeyEntry): NonNullable<Standing['bans']> {
  const { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator } = key;
  return { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator };
}
