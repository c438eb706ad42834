import fc from 'fast-check';
import {
  BudgetExceededError,
  connectRedis,
  explainRedis,
  withinBudget,
} from '../../../src/modules/quotas/stores/redis-connection';
import { RedisClock } from '../../../src/modules/quotas/stores/script-calls';
import { pendingTimers } from '../../support/pending-timers';

const CONNECTED_AT = 1_795_000_000_000;
const BUDGET_MS = 50;
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the time that a response may take', () => {
  let late: string[];
  let answer: (value: string) => void;
  let fail: (error: Error) => void;
  let outcome: Promise<PromiseSettledResult<string>[]>;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate'] });
    late = [];
    const asked = new Promise<string>((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
    outcome = Promise.allSettled([withinBudget(asked, BUDGET_MS, (value) => late.push(value))]);
    await aTurn();
  });
  afterEach(() => jest.useRealTimers());

  const EXCEEDED = [{ status: 'rejected', reason: new BudgetExceededError(BUDGET_MS) }];

  async function pass(milliseconds: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(milliseconds);
  }

  it('a response in time is returned, and not reported as late', async () => {
    await pass(BUDGET_MS - 1);
    answer('banned');
    expect(await outcome).toEqual([{ status: 'fulfilled', value: 'banned' }]);
    expect(late).toEqual([]);
    expect(pendingTimers(BUDGET_MS)).toBe(0);
  });

  it('a failure in time is passed on', async () => {
    const failure = new Error('connection lost');
    fail(failure);
    expect(await outcome).toEqual([{ status: 'rejected', reason: failure }]);
    expect(pendingTimers(BUDGET_MS)).toBe(0);
  });

  it('a late response is reported once', async () => {
    await pass(BUDGET_MS);
    expect(await outcome).toEqual(EXCEEDED);
    expect(late).toEqual([]);
    answer('banned');
    await aTurn();
    expect(late).toEqual(['banned']);
  });

  it('a late failure is not reported, but handled', async () => {
    await pass(BUDGET_MS);
    expect(await outcome).toEqual(EXCEEDED);
    fail(new Error('connection lost'));
    await aTurn();
    expect(late).toEqual([]);
  });

  it('a response left unread while this process was busy still counts: the end of the budget checks once more', async () => {
    jest.advanceTimersByTime(BUDGET_MS * 10);
    answer('banned');
    expect(await outcome).toEqual([{ status: 'fulfilled', value: 'banned' }]);
    await aTurn();
    expect(late).toEqual([]);
  });
});

describe('the clock of Redis', () => {
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
});

it.each([
  ['self-signed certificate', 'its certificate is not trusted (NODE_EXTRA_CA_CERTS'],
  ["Hostname/IP does not match certificate's altnames", 'its certificate is not trusted'],
  ['NOAUTH Authentication required.', 'it refuses the user or password of REDIS_URL'],
  ['NOPERM this user has no permissions to run the info command', 'the user of REDIS_URL lacks a permission'],
])('%s will not pass by itself, and says what to change', (message, reason) => {
  const client = connectRedis('redis://127.0.0.1:1');
  try {
    client.emit('error', new Error(message));
    const failure = explainRedis(client, new Error('The stream is not writable'));
    expect(failure).toEqual({ reason: expect.stringContaining(reason) as string, lasting: true });
    expect(failure.reason).toContain(message);
  } finally {
    client.disconnect();
  }
});
