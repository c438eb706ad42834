import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { DAY_MS } from '#libs/clock';
import { applyStep, type Decision, rateLimitHeaders } from '../../../../src/modules/quotas/rules/decision';
import {
  MINUTE_MS,
  type Limits,
  type WindowName,
  newWindows,
  refund,
  take,
  rollWindows,
} from '../../../../src/modules/quotas/rules/limits';

const START = Date.UTC(2026, 10, 21, 23, 50);
const NAMES = ['minute', 'day'] as const;

interface Step {
  do: 'wait' | 'midnight' | 'request' | 'raise' | 'refund';
  /** The milliseconds to wait, those after midnight, the number of requests, the amount of a raise, or the request to refund. */
  by: number;
}

function step(kind: Step['do'], by: fc.Arbitrary<number>, weight = 1) {
  return { weight, arbitrary: fc.record({ do: fc.constant(kind), by }) };
}
const waits = fc.oneof(
  fc.constantFrom(1, 999, 1_000, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1),
  fc.integer({ min: 0, max: 2 * MINUTE_MS }),
  fc.integer({ min: 0, max: 2 * DAY_MS }),
);
const steps = fc.array(
  fc.oneof(
    step('wait', waits, 4),
    step('midnight', fc.integer({ min: -2, max: 2 })),
    step('request', fc.integer({ min: 1, max: 9 }), 6),
    step('raise', fc.nat(6)),
    step('refund', fc.nat(), 5),
  ),
  { maxLength: 60, size: 'max' },
);
const firstLimits = fc.record({
  minute: fc.integer({ min: 1, max: 6 }),
  day: fc.integer({ min: 1, max: 20 }),
});

interface TakenRequest {
  at: number;
  refundedIn: WindowName[];
}

/** The same rules in a naive form: a list of all taken requests, each with the windows in which it was refunded. */
class NaiveWindows {
  private start = -Infinity;
  private readonly taken: TakenRequest[] = [];
  private readonly refundable: TakenRequest[] = [];

  constructor(readonly limits: Record<WindowName, number>) {}

  takenIn(name: WindowName, now: number): TakenRequest[] {
    const dayStart = now - (now % DAY_MS);
    const [from, to] = name === 'day' ? [dayStart, dayStart + DAY_MS] : [this.start, this.start + MINUTE_MS];
    return now >= to ? [] : this.taken.filter(({ at }) => at >= from && at < to);
  }

  statusOf(name: WindowName, now: number) {
    const count = this.takenIn(name, now).filter(({ refundedIn }) => !refundedIn.includes(name)).length;
    const limit = this.limits[name];
    const minuteEnd = (now < this.start + MINUTE_MS ? this.start : now) + MINUTE_MS;
    const resetAt = name === 'day' ? now - (now % DAY_MS) + DAY_MS : minuteEnd;
    return { name, limit, remaining: limit - count, resetAt };
  }

  take(now: number): WindowName | null {
    const full = NAMES.map((name) => this.statusOf(name, now)).filter(({ remaining }) => remaining === 0);
    if (full.length > 0) {
      return full.reduce((one, other) => (other.resetAt >= one.resetAt ? other : one)).name;
    }
    if (now >= this.start + MINUTE_MS) this.start = now;
    const request = { at: now, refundedIn: [] };
    this.taken.push(request);
    this.refundable.push(request);
    return null;
  }

  refund(which: number, now: number): number | undefined {
    const [request] = this.refundable.splice(which % this.refundable.length, 1);
    for (const name of NAMES) {
      const inWindow = this.takenIn(name, now);
      const refunds = inWindow.filter(({ refundedIn }) => refundedIn.includes(name)).length;
      if (inWindow.includes(request!) && refunds < this.limits[name]) request!.refundedIn.push(name);
    }
    return request?.at;
  }
}

/** Applies the steps to the real windows and to the naive ones. Time only moves forward. */
function play(limits: Record<WindowName, number>, all: Step[], onRequest: Request): void {
  const naive = new NaiveWindows(limits);
  const windows = newWindows();
  const current = () => ({ perMinute: limits.minute, perDay: limits.day });
  let now = START;
  for (const { do: what, by } of all) {
    if (what === 'wait') now += by;
    if (what === 'midnight') now = Math.max(now, now - (now % DAY_MS) + DAY_MS + by);
    if (what === 'raise') limits[by % 2 ? 'minute' : 'day'] += by;
    if (what === 'refund') {
      const takenAt = naive.refund(by, now);
      if (takenAt !== undefined) refund(windows, current(), takenAt, now);
    }
    for (let sent = 0; what === 'request' && sent < by; sent += 1) {
      const before = rollWindows(windows, current(), now);
      const exhausted = naive.take(now);
      const state = { windows, ban: null, limits: current(), now };
      onRequest(applyStep(state, 'take'), exhausted, before, naive);
    }
  }
}
type Request = (
  decision: Decision,
  exhausted: WindowName | null,
  before: object[],
  naive: NaiveWindows,
) => void;

it('Every sequence of requests is decided like a naive count', () => {
  fc.assert(
    fc.property(firstLimits, steps, (first, all) => {
      let lastRemaining = 1;
      play({ ...first }, all, ({ statuses, decidedAt, outcome, ...decision }, exhausted, before, naive) => {
        const facts = {
          exhausted: decision.exhausted,
          statuses,
          // At most as many requests as the limit are refunded, a refused request changes no count, and no request is refused
          // after an answer whose Remaining was above 0.
          bounded: NAMES.every((name) => naive.takenIn(name, decidedAt).length <= 2 * naive.limits[name]),
          unchanged: outcome !== 'limited' || isDeepStrictEqual(statuses, before),
          kept: lastRemaining === 0 || outcome === 'allowed',
        };
        const expected = {
          exhausted,
          statuses: NAMES.map((name) => naive.statusOf(name, decidedAt)),
          bounded: true,
          unchanged: true,
          kept: true,
        };
        // The comparison of Jest takes many times as long, so it is used only for the message.
        if (!isDeepStrictEqual(facts, expected)) expect(facts).toEqual(expected);
        const headers = rateLimitHeaders({ statuses, ...decision }, decidedAt);
        lastRemaining = Number(headers['X-RateLimit-Remaining']);
      });
    }),
    { numRuns: 200 },
  );
});

const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOON = MIDNIGHT + DAY_MS / 2;

it('Lowered limits never produce a negative remaining, and an address has no day', () => {
  const state = newWindows();
  for (let sent = 0; sent < 5; sent += 1) take(state, { perMinute: 5, perDay: 10 }, NOON);
  const remaining = (limits: Limits) => rollWindows(state, limits, NOON).map((window) => window.remaining);
  expect(remaining({ perMinute: 3, perDay: 4 })).toEqual([0, 0]);
  expect(remaining({ perMinute: 6, perDay: null })).toEqual([1]);
});
