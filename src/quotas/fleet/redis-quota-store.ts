import type { Cluster, Redis } from 'ioredis';
import type { BanState } from '../ban-rules';
import { type Decision, type Outcome, decisionAfter } from '../decision';
import { type WindowName, type WindowState, standings } from '../rate-window';
import type { Subject } from '../subject';
import type { QuotaRecords } from '../store/quota-records';
import { QuotaStore, type Standing } from '../store/quota-store';
import { QUOTA_SCRIPT } from './quota-script';

type Step = 'take' | 'back' | 'look' | 'ban';
type Remembered = Awaited<ReturnType<QuotaRecords['remembered']>>;

interface StateAfter {
  outcome: Outcome | 'returned';
  exhausted: WindowName | null;
  newlyBanned: boolean;
  windows: WindowState;
  bans: BanState | null;
  now: number;
}

type Reply = [string, string, ...number[]] | ['unknown'];

interface WithScript {
  quota(...args: (string | number)[]): Promise<Reply>;
  del(key: string): Promise<number>;
}

const NOTHING_REMEMBERED = ['', '', '', ''];

/** Redis did not answer, not in time, or not with what was asked for. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

/** Counts in Redis, so that any number of instances count as one: one script, one round trip, all or nothing. */
export class RedisQuotaStore extends QuotaStore {
  private readonly redis: WithScript;

  /** @param testClock replaces Redis's own clock, for tests that move the time */
  constructor(
    client: Redis | Cluster,
    private readonly records: QuotaRecords,
    private readonly testClock?: () => number,
  ) {
    super();
    client.defineCommand('quota', { lua: QUOTA_SCRIPT });
    this.redis = client as unknown as WithScript;
  }

  async take(subject: Subject): Promise<Decision> {
    const state = await this.run('take', subject);
    const { outcome, exhausted, newlyBanned, windows, bans } = state;
    if (subject.kind === 'client' && outcome === 'allowed') {
      this.records.count(subject.clientId, windows.day, 1);
    } else if (subject.kind === 'client' && newlyBanned) {
      this.records.saveBan(subject.keyId, bans!);
    }
    return decisionAfter(outcome as Outcome, exhausted, newlyBanned, { ...state, limits: subject.limits });
  }

  async handBack(subject: Subject, takenAt: number): Promise<Standing> {
    const { outcome, windows, bans, now } = await this.run('back', subject, takenAt);
    if (subject.kind === 'client' && outcome === 'returned') {
      this.records.count(subject.clientId, windows.day, -1);
    }
    return { standings: standings(windows, subject.limits, now), bans, decidedAt: now };
  }

  async look(subject: Subject): Promise<Standing> {
    const { windows, bans, now } = await this.run('look', subject);
    return { standings: standings(windows, subject.limits, now), bans, decidedAt: now };
  }

  /** Takes over the database's word on a key's ban. Every instance that hears of a change does so; the last one changes nothing. */
  async reloadBans(keyId?: number): Promise<void> {
    const clientId = keyId === undefined ? null : await this.records.clientOf(keyId);
    if (keyId !== undefined && clientId !== null && !this.records.hasUnsavedBan(keyId)) {
      const remembered = await this.records.remembered(clientId, keyId);
      const limits = { perMinute: 0, perDay: 0 };
      await this.call('ban', { kind: 'client', clientId, keyId, limits }, '', toArguments(remembered));
    }
  }

  /** Rejects unless Redis does the very work that counting is. */
  async probe(): Promise<void> {
    await this.look({ kind: 'address', address: 'probe', limits: { perMinute: 1, perDay: null } });
  }

  /** Makes Redis ask the database anew about these clients: they were counted elsewhere meanwhile. */
  async forget(known: { clientId: number; keyId: number }[]): Promise<void> {
    await this.records.flush();
    const keys = known.flatMap(({ clientId, keyId }) => keysOfClient(clientId, keyId));
    await Promise.all([...new Set(keys)].map((key) => this.redis.del(key)));
  }

  private async run(step: Step, subject: Subject, takenAt: number | '' = ''): Promise<StateAfter> {
    let reply = await this.call(step, subject, takenAt, NOTHING_REMEMBERED);
    if (reply[0] === 'unknown' && subject.kind === 'client') {
      // Redis has not seen this client yet, or has forgotten it: the database remembers the day and the bans.
      const remembered = await this.records.remembered(subject.clientId, subject.keyId);
      reply = await this.call(step, subject, takenAt, toArguments(remembered));
    }
    return toState(reply, subject.kind === 'client');
  }

  private async call(
    step: Step,
    subject: Subject,
    takenAt: number | '',
    remembered: (string | number)[],
  ): Promise<Reply> {
    const { perMinute, perDay } = subject.limits;
    const keys = keysOf(subject);
    const now = this.testClock?.() ?? '';
    try {
      return await this.redis.quota(
        keys.length,
        ...keys,
        step,
        perMinute,
        perDay ?? -1,
        now,
        takenAt,
        ...remembered,
      );
    } catch (error) {
      throw new RedisUnavailableError(error);
    }
  }
}

function keysOf(subject: Subject): string[] {
  return subject.kind === 'client'
    ? keysOfClient(subject.clientId, subject.keyId)
    : [`petstore:{address:${subject.address}}:windows`];
}

/** The braces are a hash tag: what belongs to one client lies on one node of a cluster. */
function keysOfClient(clientId: number, keyId: number): string[] {
  return [`petstore:{client:${clientId}}:windows`, `petstore:{client:${clientId}}:key:${keyId}`];
}

function toArguments({ day, requests, level, bannedUntil }: Remembered): number[] {
  return [day, requests, level, bannedUntil];
}

function toState(reply: Reply, hasKey: boolean): StateAfter {
  const [outcome, exhausted, newly, now, minuteStart, minuteCount, day, dayCount, ...ban] = reply as [
    Outcome | 'returned',
    WindowName | '',
    number,
    number,
    number,
    number,
    number,
    number,
    ...number[],
  ];
  const [refusals = 0, refusalsUntil = 0, level = 0, bannedUntil = 0] = ban;
  return {
    outcome,
    exhausted: exhausted === '' ? null : exhausted,
    newlyBanned: newly === 1,
    now,
    windows: { minuteStart, minuteCount, day, dayCount },
    bans: hasKey ? { refusals, refusalsUntil, level, bannedUntil } : null,
  };
}
