import type { Cluster, Redis } from 'ioredis';
import { type Decision, type Outcome, decisionAfter } from '../rules/decision';
import { standings } from '../rules/limits';
import { type QuotaRecords, type StoredState, shareRead } from './quota-records';
import { type Reply, type StateAfter, keysOf, keysOfClient, toState, windowsOfClient } from './quota-script';
import type { Change, ClientSubject, Receipt, Standing, Subject } from './quota-store';
import { ScriptCalls, type ScriptStep } from './script-calls';

type SubjectStep = Pick<ScriptStep, 'name'> & { takenAt?: number };

/** Steps in flight for bulk updates, so that Redis stays responsive. */
const SENT_AT_ONCE = 200;

const TAKE: SubjectStep = { name: 'take' };
const NOTHING_STORED: readonly number[] = [];

/** Counts in Redis, so that all instances share the limits: one atomic script, one round trip. */
export class RedisQuotaStore {
  private readonly calls: ScriptCalls;
  private readonly reading = new Map<number, Promise<StoredState>>();

  constructor(
    client: Redis | Cluster,
    private readonly records: QuotaRecords,
    budgetMs: number,
  ) {
    this.calls = new ScriptCalls(client, budgetMs);
  }

  take(subject: Subject): Promise<Decision> {
    return this.run(subject, TAKE).then((state) => this.decisionOf(subject, state));
  }

  private decisionOf(subject: Subject, state: StateAfter): Decision {
    const { outcome, exhausted, newlyBanned, windows } = state;
    if (subject.kind === 'client' && outcome === 'allowed') {
      this.records.count(subject.clientId, windows, 1);
    }
    this.saveNewBan(subject, state);
    return decisionAfter(outcome as Outcome, exhausted, newlyBanned, { ...state, limits: subject.limits });
  }

  async refund(subject: Subject, { takenAt }: Receipt): Promise<Standing> {
    const state = await this.run(subject, { name: 'refund', takenAt });
    if (subject.kind === 'client' && state.outcome === 'refunded') {
      this.records.count(subject.clientId, state.windows, -1);
    }
    return standingAfter(subject, state);
  }

  async look(subject: Subject): Promise<Standing> {
    return standingAfter(subject, await this.run(subject, { name: 'look' }));
  }

  /** Copies bans and resets to Redis, and marks the days of active clients as stale. Every notified instance does so; it is idempotent. */
  async reload({ keyId, clientId }: Change): Promise<void> {
    const isAll = keyId === undefined && clientId === undefined;
    const bans = isAll || keyId !== undefined ? await this.records.bans(keyId) : [];
    const resets = isAll || clientId !== undefined ? await this.records.resets(clientId) : [];
    const used = isAll ? await this.records.clientsOfToday() : [];
    await this.runAll([
      ...bans
        .filter((ban) => !this.records.hasUnsavedBan(ban.keyId))
        .map(({ level, bannedUntil, byOperator, ...key }) =>
          aStep('ban', keysOfClient(key.clientId, key.keyId), [
            '',
            '',
            level,
            bannedUntil,
            Number(byOperator),
            '',
          ]),
        ),
      ...resets.map((one) =>
        aStep('reset', [windowsOfClient(one.clientId)], ['', '', '', '', '', one.resetAt]),
      ),
      ...used.map((id) => aStep('mark stale', [windowsOfClient(id)])),
    ]);
  }

  /** Rejects unless Redis can run the script. */
  async probe(): Promise<void> {
    await this.look({ kind: 'address', address: 'probe', limits: { perMinute: 1, perDay: null } });
  }

  /** Makes Redis reload these clients from the database, because they were counted elsewhere. */
  async markStale(known: { clientId: number; keyId: number }[]): Promise<void> {
    await this.records.flush();
    await this.runAll(known.map(({ clientId, keyId }) => aStep('mark stale', keysOfClient(clientId, keyId))));
  }

  /** In slices, so that each response arrives within its time budget. */
  private async runAll(steps: ScriptStep[]): Promise<void> {
    for (let next = 0; next < steps.length; next += SENT_AT_ONCE) {
      await Promise.all(steps.slice(next, next + SENT_AT_ONCE).map((step) => this.calls.run(step)));
    }
  }

  // No async/await: each await on the hot path costs every request.
  private run(subject: Subject, step: SubjectStep): Promise<StateAfter> {
    return this.call(subject, step, NOTHING_STORED).then((reply) =>
      reply[0] === 'unknown' && subject.kind === 'client'
        ? this.runWithStored(subject, step)
        : toState(reply, subject.kind === 'client'),
    );
  }

  /** For a client that Redis does not have: passes its day and bans from the database. */
  private async runWithStored(subject: ClientSubject, step: SubjectStep): Promise<StateAfter> {
    const { clientId, keyId } = subject;
    const read = () => this.records.read(clientId, keyId);
    const { day, requests, ban, resetAt } = await shareRead(this.reading, keyId, read);
    const stored = [day, requests, ban.level, ban.bannedUntil, Number(ban.byOperator), resetAt];
    return toState(await this.call(subject, step, stored), true);
  }

  private call(
    subject: Subject,
    { name, takenAt = 0 }: SubjectStep,
    stored: readonly number[],
  ): Promise<Reply> {
    const { perMinute, perDay } = subject.limits;
    const step = { keys: keysOf(subject), name, perMinute, perDay: perDay ?? -1, takenAt, stored };
    return this.calls.run(step, (late) => {
      // A late decision is in force in Redis, so a new ban must be recorded.
      this.saveNewBan(subject, toState(late, subject.kind === 'client'));
    });
  }

  private saveNewBan(subject: Subject, { newlyBanned, bans, now }: StateAfter): void {
    if (subject.kind === 'client' && newlyBanned) {
      this.records.saveBan(subject.keyId, bans!, now);
    }
  }
}

function standingAfter({ limits }: Subject, { windows, bans, now }: StateAfter): Standing {
  return { standings: standings(windows, limits, now), bans, decidedAt: now };
}

/** A step that needs no limits. */
function aStep(
  name: ScriptStep['name'],
  keys: string[],
  stored: ScriptStep['stored'] = NOTHING_STORED,
): ScriptStep {
  return { name, keys, perMinute: 0, perDay: 0, takenAt: 0, stored };
}
