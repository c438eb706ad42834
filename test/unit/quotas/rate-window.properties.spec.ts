import fc from 'fast-check';
import { decide, type Decision } from '../../../src/modules/quotas/decision';
import { rateLimitHeaders } from '../../../src/modules/quotas/rate-limit-headers';
import {
  DAY_MS,
  MINUTE_MS,
  refund,
  newWindowState,
  standings,
  type WindowName,
} from '../../../src/modules/quotas/rate-window';

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

describe('whatever a client does', () => {
  it('is decided as by a naive count of all its requests', () => {
    fc.assert(
      fc.property(firstLimits, steps, (first, all) => {
        play(first, all, (decision, expected, { now, limits }, naive) => {
          expect(decision.exhausted).toBe(expected);
          expect(decision.standings).toEqual(
            (['minute', 'day'] as const).map((name) => {
              const limit = name === 'minute' ? limits.perMinute : limits.perDay;
              return {
                name,
                limit,
                remaining: limit - naive.countIn(name, now),
                resetAt: naive.endOf(name, now),
              };
            }),
          );
        });
      }),
      { numRuns: 200 },
    );
  });

  it('never has more let in, and not refunded, than a window holds', () => {
    fc.assert(
      fc.property(firstLimits, steps, (first, all) => {
        play(first, all, (_, __, { now, limits }, naive) => {
          expect(naive.countIn('minute', now)).toBeLessThanOrEqual(limits.perMinute);
          expect(naive.countIn('day', now)).toBeLessThanOrEqual(limits.perDay);
        });
      }),
    );
  });

  it('never has more than twice as many let in as a window holds, refunded or not', () => {
    fc.assert(
      fc.property(firstLimits, steps, (first, all) => {
        play(first, all, (_, __, { now, limits }, naive) => {
          expect(naive.takenIn('minute', now).length).toBeLessThanOrEqual(2 * limits.perMinute);
          expect(naive.takenIn('day', now).length).toBeLessThanOrEqual(2 * limits.perDay);
        });
      }),
    );
  });

  it('is never refused while its last Remaining was above 0', () => {
    fc.assert(
      fc.property(firstLimits, steps, (first, all) => {
        let last = 1;
        play(first, all, (decision, _, { now }) => {
          if (last > 0) expect(decision.outcome).toBe('allowed');
          last = Number(
            rateLimitHeaders(decision.standings, now, decision.exhausted)['X-RateLimit-Remaining'],
          );
        });
      }),
    );
  });

  it('changes no count by a refused request', () => {
    fc.assert(
      fc.property(firstLimits, steps, (first, all) => {
        play(first, all, (decision, _, { before }) => {
          if (decision.outcome === 'limited') expect(JSON.stringify(decision.standings)).toBe(before);
        });
      }),
    );
  });
});
