import type { OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import type { BanState } from '../ban-rules';
import { type Decision, decide } from '../decision';
import { type Limits, type WindowState, handBack, standings } from '../rate-window';
import { shareOf } from '../share';
import type { ClientSubject, Subject } from '../subject';
import type { QuotaRecords } from './quota-records';
import { QuotaStore, type Receipt, type Standing } from './quota-store';
import { type ClientEntry, SubjectMemory } from './subject-memory';
import { UnwrittenCounts } from './unwritten-counts';

/** A step on a subject's state; `client` is null for an address. */
type Step<Result> = (
  windows: WindowState,
  bans: BanState | null,
  limits: Limits,
  client: ClientEntry | null,
) => Result;

/** Counts in this process alone, exactly, and keeps the day's counts and the bans in the database. */
export class MemoryQuotaStore extends QuotaStore implements OnModuleDestroy {
  private readonly memory: SubjectMemory;
  private readonly counts = new UnwrittenCounts();

  constructor(
    private readonly records: QuotaRecords,
    private readonly clock: Clock,
    /** How many instances count beside each other: each lets through its share. */
    private readonly instances = 1,
  ) {
    super();
    this.memory = new SubjectMemory(records, clock);
    records.countFrom((write) => this.counts.passOn(write));
  }

  onModuleDestroy(): void {
    this.memory.close();
  }

  take(subject: Subject): Decision | Promise<Decision> {
    return this.with(subject, (windows, bans, limits, client) => {
      const decision = decide(windows, bans, limits, this.clock.now());
      if (client !== null && decision.outcome === 'allowed') {
        this.counts.add(client, windows.day, 1);
      } else if (decision.newlyBanned) {
        this.records.saveBan((subject as ClientSubject).keyId, bans!, decision.decidedAt);
      }
      return decision;
    });
  }

  handBack(subject: Subject, { takenAt }: Receipt): Standing | Promise<Standing> {
    return this.with(subject, (windows, bans, limits, client) => {
      const before = windows.dayCount;
      handBack(windows, takenAt);
      if (client !== null && windows.dayCount < before) {
        this.counts.add(client, windows.day, -1);
      }
      return this.standingOf(windows, bans, limits);
    });
  }

  look(subject: Subject): Standing | Promise<Standing> {
    return this.with(subject, (windows, bans, limits) => this.standingOf(windows, bans, limits));
  }

  reloadBans(keyId?: number): Promise<void> {
    return this.memory.reloadBans(keyId);
  }

  reloadResets(clientId?: number): Promise<void> {
    return this.memory.reloadResets(clientId);
  }

  /** The clients and keys that were counted here. */
  known(): { clientId: number; keyId: number }[] {
    return this.memory.known();
  }

  /** Forgets everybody; what the database remembers is read again. */
  forgetAll(): void {
    this.memory.forgetAll();
  }

  /** Number of subjects in memory, by kind. */
  get size(): SubjectMemory['size'] {
    return this.memory.size;
  }

  /** Runs the step on the subject's state, at once when the state is in memory. */
  private with<Result>(subject: Subject, step: Step<Result>): Result | Promise<Result> {
    const { limits } = subject;
    if (subject.kind === 'address') {
      return step(
        this.memory.windowsOfAddress(subject.address),
        null,
        shareOf(limits, this.instances, 0),
        null,
      );
    }
    const found = this.memory.find(subject);
    if (!found) {
      return this.memory.load(subject).then(() => this.with(subject, step));
    }
    const { client, bans } = found;
    const used = client.windows.day === client.firstDay ? client.usedBefore : 0;
    return step(client.windows, bans, shareOf(limits, this.instances, used), client);
  }

  private standingOf(windows: WindowState, bans: BanState | null, limits: Limits): Standing {
    const now = this.clock.now();
    return { standings: standings(windows, limits, now), bans, decidedAt: now };
  }
}
