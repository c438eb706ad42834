import fc from 'fast-check';
import { RedisClock } from '../../../../src/modules/quotas/stores/script-calls';

const CONNECTED_AT = 1_795_000_000_000;

beforeEach(() => jest.useFakeTimers({ now: CONNECTED_AT }));
afterEach(() => jest.useRealTimers());

/** A call that takes so long to Redis and back, whose clock is so much ahead of ours. */
function call(clock: RedisClock, ahead: number, there: number, back: number): void {
  const sentAt = performance.now();
  jest.advanceTimersByTime(there);
  const time = Math.floor(Date.now() + ahead);
  jest.advanceTimersByTime(back);
  clock.learn(sentAt, time);
}

it('is unknown before the first reply', () => {
  expect(new RedisClock().in(50)).toBeUndefined();
});

it('is never ahead of the true one, and behind it by at most the fastest way back', () => {
  const delay = fc.nat(40);
  const calls = fc.array(fc.tuple(delay, delay), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.integer({ min: -100_000, max: 100_000 }), calls, (ahead, all) => {
      const clock = new RedisClock();
      return all.every(([there, back], index) => {
        call(clock, ahead, there, back);
        const fastest = Math.min(...all.slice(0, index + 1).map(([, one]) => one));
        const behind = Date.now() + ahead + 50 - clock.in(50)!;
        return behind >= 0 && behind <= fastest + 2;
      });
    }),
  );
});

it.each([-3_600_000, 3_600_000])('follows a clock that was set by %i ms from its next reply on', (step) => {
  const clock = new RedisClock();
  call(clock, 0, 1, 1);
  call(clock, step, 20, 20);
  expect(clock.in(0)).toBeLessThanOrEqual(Date.now() + step);
  expect(clock.in(0)).toBeGreaterThan(Date.now() + step - 25);
});
