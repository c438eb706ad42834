import type { Settings } from '../../../settings';
import type { Clock } from '#libs/clock';
import { type Decision, decide } from '../rules/decision';
import { type Limits, type WindowState, isDayOver, refund, standings } from '../rules/rate-window';
import { shareOf } from '../rules/share';
import type { Subject } from './subject';
import type { QuotaRecords } from './quota-records';
import { QuotaStore, type Receipt, type Standing } from './quota-store';
import { type ClientEntry, bansOf } from './subject-entries';
import { SubjectMemory } from './subject-memory';
import { UnwrittenCounts } from './unwritten-counts';

/** Counts in this process, and persists daily counts and bans in the database. */
export class MemoryQuotaStore extends QuotaStore {
  private readonly memory: SubjectMemory;
  private readonly counts = new UnwrittenCounts();

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** Number of instances that count separately; each allows its share. */
    private readonly instances = 1,
  ) {
    super();
    this.memory = new SubjectMemory(records, clock);
    records.countFrom((write) => this.counts.passOn(write));
  }

  override onModuleDestroy(): void {
    this.memory.close();
  }

  take(subject: Subject): Decision | Promise<Decision> {
    const now = this.clock.now();
    if (subject.kind === 'address') {
      const windows = this.memory.addresses.windowsOf(subject.address, now);
      return decide(windows, null, this.limitsOf(subject, null, now), now);
    }
    const key = this.memory.find(subject, now);
    if (key === undefined) {
      return this.memory.load(subject).then(() => this.take(subject));
    }
    const { client } = key;
    const decision = decide(client, key, this.limitsOf(subject, client, now), now);
    if (decision.outcome === 'allowed') {
      this.counts.add(client, client.day, 1);
    } else if (decision.earnedBanLevel > 0) {
      this.records.saveBan(subject.keyId, key, now);
    }
    return decision;
  }

  refund(subject: Subject, { takenAt }: Receipt): Standing | Promise<Standing> {
    return this.lookAt(subject, (windows, client) => {
      const before = windows.dayCount;
      // The share of a whole day, so that all instances together refund at most the limit.
      refund(windows, shareOf(subject.limits, this.instances, 0), takenAt);
      if (client !== null && windows.dayCount < before) {
        this.counts.add(client, windows.day, -1);
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
  get size(): SubjectMemory['size'] {
    return this.memory.size;
  }

  /** Applies a change, if any, and returns the subject's standing. */
  private lookAt(
    subject: Subject,
    change: (windows: WindowState, client: ClientEntry | null) => void,
  ): Standing | Promise<Standing> {
    const now = this.clock.now();
    if (subject.kind === 'address') {
      const windows = this.memory.addresses.windowsOf(subject.address, now);
      change(windows, null);
      return {
        standings: standings(windows, this.limitsOf(subject, null, now), now),
        bans: null,
        decidedAt: now,
      };
    }
    const key = this.memory.find(subject, now);
    if (key === undefined) {
      return this.memory.load(subject).then(() => this.lookAt(subject, change));
    }
    const { client } = key;
    change(client, client);
    return {
      standings: standings(client, this.limitsOf(subject, client, now), now),
      bans: bansOf(key),
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

/** With Redis, an instance that cannot reach it allows only its share of the limits. */
export function sharesOf({ redisUrl, instances }: Pick<Settings, 'redisUrl' | 'instances'>): number {
  return redisUrl === undefined ? 1 : instances;
}
