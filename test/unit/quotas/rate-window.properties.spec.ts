import fc from 'fast-check';
import { decide, type Decision } from '../../../src/modules/quotas/rules/decision';
import { rateLimitHeaders } from '../../../src/modules/quotas/rules/rate-limit-headers';
import {
  DAY_MS,
  MINUTE_MS,
  refund,
  newWindowState,
  standings,
  type WindowName,
} from '../../../src/modules/quotas/rules/rate-window';

const START = Date.UTC(2026, 10, 21, 23, 50);

type Step =
  | { do: 'wait'; ms: number }
  | { do: 'midnight'; offset: number }
  | { do: 'request'; times: number }
  | { do: 'raise'; perMinute: number; perDay: number }
  | { do: 'refund'; which: number };

const waits = fc.oneof(
  fc.constantFrom(1, 999, 1_000, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1),
  fc.integer({ min: 0, max: 2 * MINUTE_MS }),
  fc.integer({ min: 0, max: 2 * DAY_MS }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: waits }) },
  fc.record({ do: fc.constant('midnight' as const), offset: fc.integer({ min: -2, max: 2 }) }),
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('request' as const), times: fc.integer({ min: 1, max: 9 }) }),
  },
  fc.record({
    do: fc.constant('raise' as const),
    perMinute: fc.integer({ min: 0, max: 3 }),
    perDay: fc.integer({ min: 0, max: 6 }),
  }),
  { weight: 5, arbitrary: fc.record({ do: fc.constant('refund' as const), which: fc.nat() }) },
);
const steps = fc.array(step, { maxLength: 120, size: 'max' });
const firstLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 20 }),
});

interface TakenRequest {
  at: number;
  refundedIn: WindowName[];
}

/** The same rules, told with every request that was taken, and the windows in which it was refunded. */
class NaiveWindows {
  private start = -Infinity;
  private readonly taken: TakenRequest[] = [];
  private readonly refundable: TakenRequest[] = [];

  takenIn(name: WindowName, now: number): TakenRequest[] {
    const dayStart = now - (now % DAY_MS);
    const [from, to] = name === 'day' ? [dayStart, dayStart + DAY_MS] : [this.start, this.start + MINUTE_MS];
    if (now >= to) return [];
    return this.taken.filter(({ at }) => at >= from && at < to);
  }

  countIn(name: WindowName, now: number): number {
    return this.takenIn(name, now).filter(({ refundedIn }) => !refundedIn.includes(name)).length;
  }

  endOf(name: WindowName, now: number): number {
    if (name === 'day') return now - (now % DAY_MS) + DAY_MS;
    return (now < this.start + MINUTE_MS ? this.start : now) + MINUTE_MS;
  }

  take(limits: { perMinute: number; perDay: number }, now: number): WindowName | null {
    const full = (['day', 'minute'] as const).filter(
      (name) => this.countIn(name, now) >= (name === 'day' ? limits.perDay : limits.perMinute),
    );
    full.sort((a, b) => this.endOf(b, now) - this.endOf(a, now));
    if (full[0] !== undefined) return full[0];
    if (now >= this.start + MINUTE_MS) this.start = now;
    const request = { at: now, refundedIn: [] };
    this.taken.push(request);
    this.refundable.push(request);
    return null;
  }

  refund(which: number, limits: { perMinute: number; perDay: number }, now: number): number | undefined {
    if (this.refundable.length === 0) return undefined;
    const [request] = this.refundable.splice(which % this.refundable.length, 1);
    for (const name of ['minute', 'day'] as const) {
      const inWindow = this.takenIn(name, now);
      const refunds = inWindow.length - this.countIn(name, now);
      const limit = name === 'day' ? limits.perDay : limits.perMinute;
      if (inWindow.includes(request!) && refunds < limit) request!.refundedIn.push(name);
    }
    return request!.at;
  }
}

interface Seen {
  now: number;
  limits: { perMinute: number; perDay: number };
  before: string;
}

/** Plays the steps on the real state and the naive one, time only going forward. */
function play(
  first: { perMinute: number; perDay: number },
  all: Step[],
  onRequest: (decision: Decision, expected: WindowName | null, seen: Seen, naive: NaiveWindows) => void,
): void {
  const naive = new NaiveWindows();
  const windows = newWindowState(START);
  const limits = { ...first };
  let now = START;
  for (const one of all) {
    if (one.do === 'wait') now += one.ms;
    if (one.do === 'midnight') now = Math.max(now, now - (now % DAY_MS) + DAY_MS + one.offset);
    if (one.do === 'raise') {
      limits.perMinute += one.perMinute;
      limits.perDay += one.perDay;
    }
    if (one.do === 'refund') {
      const takenAt = naive.refund(one.which, limits, now);
      if (takenAt !== undefined) refund(windows, limits, takenAt);
    }
    if (one.do !== 'request') continue;
    for (let i = 0; i < one.times; i += 1) {
      const before = JSON.stringify(standings(windows, limits, now));
      const expected = naive.take(limits, now);
      onRequest(decide(windows, null, limits, now), expected, { now, limits: { ...limits }, before }, naive);
    }
  }
}

it('Every sequence of requests is decided like a naive count', () => {
  fc.assert(
    fc.property(firstLimits, steps, (first, all) => {
      let lastRemaining = 1;
      play(first, all, (decision, expected, { now, limits, before }, naive) => {
        const counts = { minute: naive.countIn('minute', now), day: naive.countIn('day', now) };
        expect({ exhausted: decision.exhausted, standings: decision.standings }).toEqual({
          exhausted: expected,
          standings: (['minute', 'day'] as const).map((name) => {
            const limit = name === 'minute' ? limits.perMinute : limits.perDay;
            return { name, limit, remaining: limit - counts[name], resetAt: naive.endOf(name, now) };
          }),
        });
        // Never are more let in, and not refunded, than a window holds; a refused request changes no count; and
        // nobody is refused whose last Remaining was above 0.
        const held = counts.minute <= limits.perMinute && counts.day <= limits.perDay;
        // Refunds of a window are at most as many as its limit.
        const bounded =
          naive.takenIn('minute', now).length <= 2 * limits.perMinute &&
          naive.takenIn('day', now).length <= 2 * limits.perDay;
        const unchanged = decision.outcome !== 'limited' || JSON.stringify(decision.standings) === before;
        const kept = lastRemaining === 0 || decision.outcome === 'allowed';
        expect({ held, bounded, unchanged, kept }).toEqual({
          held: true,
          bounded: true,
          unchanged: true,
          kept: true,
        });
        const headers = rateLimitHeaders(decision.standings, now, decision.exhausted);
        lastRemaining = Number(headers['X-RateLimit-Remaining']);
      });
    }),
    { numRuns: 200 },
  );
});
