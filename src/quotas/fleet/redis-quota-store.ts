import type { Cluster, Redis } from 'ioredis';
import { type Decision, type Outcome, decisionAfter } from '../decision';
import { DAY_MS, type Limits, standings } from '../rate-window';
import type { ClientSubject, Subject } from '../subject';
import type { QuotaRecords } from '../store/quota-records';
import { QuotaStore, type Receipt, type Standing } from '../store/quota-store';
import { type Reply, type StateAfter, toState } from './quota-reply';
import { QUOTA_SCRIPT } from './quota-script';
import { withinBudget } from './within-budget';

/** How long one answer may take. Past it the request goes on without Redis. */
const BUDGET_MS = 50;
/** So few that they are done within that time, however many there are in all. */
const SENT_AT_ONCE = 200;

type Step = 'take' | 'back' | 'look' | 'ban' | 'reset' | 'doubt';
type Remembered = Awaited<ReturnType<QuotaRecords['remembered']>>;

interface WithScript {
  quota(...args: (string | number)[]): Promise<Reply>;
}

/** For steps that take nothing. */
const NO_LIMITS: Limits = { perMinute: 0, perDay: 0 };
const NOTHING_REMEMBERED = ['', '', '', '', ''];

/** Redis did not answer, not in time, or not with what was asked for. */
export class RedisUnavailableError extends Error {
  constructor(cause: unknown) {
    super('Redis did not answer.', { cause });
  }
}

/** Counts in Redis, so that any number of instances count as one: one script, one round trip, all or nothing. */
export class RedisQuotaStore extends QuotaStore {
  private readonly redis: WithScript;
  private readonly asked = new Map<number, Promise<Remembered>>();

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
    const { outcome, exhausted, newlyBanned, windows } = state;
    if (subject.kind === 'client' && outcome === 'allowed') {
      this.records.count(subject.clientId, windows.day, 1);
    }
    this.saveNewBan(subject, state);
    return decisionAfter(outcome as Outcome, exhausted, newlyBanned, { ...state, limits: subject.limits });
  }

  async handBack(subject: Subject, { takenAt }: Receipt): Promise<Standing> {
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

  /** Takes over the database's word on bans. Every instance that hears of a change does so; the last one changes nothing. */
  async reloadBans(keyId?: number): Promise<void> {
    const bans = await this.records.bans(keyId);
    await inSlices(bans, async ({ clientId, keyId: id, level, bannedUntil }) => {
      if (!this.records.hasUnsavedBan(id)) {
        await this.send(keysOfClient(clientId, id), 'ban', NO_LIMITS, '', ['', '', level, bannedUntil, '']);
      }
    });
  }

  /** Has the database asked anew about the day of everybody who has used something of it. */
  async reloadDays(): Promise<void> {
    const clients = await this.records.clientsOf(Math.floor(this.records.now() / DAY_MS));
    await inSlices(clients, (clientId) => this.send(keysOfClient(clientId, 0).slice(0, 1), 'doubt'));
  }

  /** Begins windows anew that somebody has reset. Every instance asks for it; the first one does it. */
  async reloadResets(clientId?: number): Promise<void> {
    for (const { clientId: id, resetAt } of await this.records.resets(clientId)) {
      const [windows = ''] = keysOfClient(id, 0);
      await this.send([windows], 'reset', NO_LIMITS, '', ['', '', '', '', resetAt]);
    }
  }

  /** Rejects unless Redis does the very work that counting is. */
  async probe(): Promise<void> {
    await this.look({ kind: 'address', address: 'probe', limits: { perMinute: 1, perDay: null } });
  }

  /** Has the database asked anew about these clients, who were counted elsewhere meanwhile. */
  async doubt(known: { clientId: number; keyId: number }[]): Promise<void> {
    await this.records.flush();
    await inSlices(known, ({ clientId, keyId }) => this.send(keysOfClient(clientId, keyId), 'doubt'));
  }

  private async run(step: Step, subject: Subject, takenAt: number | '' = ''): Promise<StateAfter> {
    let reply = await this.call(step, subject, takenAt, NOTHING_REMEMBERED);
    if (reply[0] === 'unknown' && subject.kind === 'client') {
      // Redis has not seen this client yet, or has forgotten it: the database remembers the day and the bans.
      reply = await this.call(step, subject, takenAt, toArguments(await this.remembered(subject)));
    }
    return toState(reply, subject.kind === 'client');
  }

  /** Requests of one client that wait for the same answer share it: after an outage all of them ask at once. */
  private remembered({ clientId, keyId }: ClientSubject): Promise<Remembered> {
    let asked = this.asked.get(keyId);
    if (asked === undefined) {
      asked = this.records.remembered(clientId, keyId).finally(() => this.asked.delete(keyId));
      this.asked.set(keyId, asked);
    }
    return asked;
  }

  private call(
    step: Step,
    subject: Subject,
    takenAt: number | '',
    remembered: (string | number)[],
  ): Promise<Reply> {
    return this.send(keysOf(subject), step, subject.limits, takenAt, remembered, (late) => {
      // What was decided too late for its request holds in Redis all the same, and of a ban the others have to hear.
      this.saveNewBan(subject, toState(late, subject.kind === 'client'));
    });
  }

  private saveNewBan(subject: Subject, { newlyBanned, bans, now }: StateAfter): void {
    if (subject.kind === 'client' && newlyBanned) {
      this.records.saveBan(subject.keyId, bans!, now);
    }
  }

  private async send(
    keys: string[],
    step: Step,
    { perMinute, perDay }: Limits = NO_LIMITS,
    takenAt: number | '' = '',
    remembered: (string | number)[] = NOTHING_REMEMBERED,
    onLate?: (late: Reply) => void,
  ): Promise<Reply> {
    const now = this.testClock?.() ?? '';
    try {
      const reply = this.redis.quota(
        keys.length,
        ...keys,
        step,
        perMinute,
        perDay ?? -1,
        now,
        takenAt,
        ...remembered,
      );
      return await withinBudget(reply, BUDGET_MS, onLate);
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
export function keysOfClient(clientId: number, keyId: number): string[] {
  return [`petstore:{client:${clientId}}:windows`, `petstore:{client:${clientId}}:key:${keyId}`];
}

function toArguments({ day, requests, level, bannedUntil, resetAt }: Remembered): number[] {
  return [day, requests, level, bannedUntil, resetAt];
}

/** Does it for all, so many at once that each is answered within its time. */
async function inSlices<Item>(items: Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (let next = 0; next < items.length; next += SENT_AT_ONCE) {
    await Promise.all(items.slice(next, next + SENT_AT_ONCE).map(work));
  }
}
