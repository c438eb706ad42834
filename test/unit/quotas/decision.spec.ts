import { newBanState, type BanState } from '../../../src/modules/quotas/rules/ban-rules';
import { NOTHING_TAKEN, decide, type Decision } from '../../../src/modules/quotas/rules/decision';
import {
  refund,
  newWindowState,
  type Limits,
  type WindowState,
} from '../../../src/modules/quotas/rules/rate-window';

const NOW = Date.UTC(2026, 10, 21, 9);
const LIMITS: Limits = { perMinute: 2, perDay: 100 };

function decideTimes(count: number, windows: WindowState, bans: BanState | null, now = NOW): Decision[] {
  return Array.from({ length: count }, () => decide(windows, bans, LIMITS, now));
}

/** Uses up both requests, and all refusals that bring a ban but the last. */
function decideToTheBrink(windows: WindowState, bans: BanState): Decision[] {
  return [...decideTimes(3, windows, bans), ...decideTimes(10, windows, bans, NOW + 1_000)];
}

describe('an allowed request', () => {
  it('counts in both windows, needs no wait and can be refunded', () => {
    const windows = newWindowState(NOW);
    const decision = decide(windows, newBanState(), LIMITS, NOW);
    expect(decision).toEqual({
      outcome: 'allowed',
      standings: [
        { name: 'minute', limit: 2, remaining: 1, resetAt: NOW + 60_000 },
        { name: 'day', limit: 100, remaining: 99, resetAt: Date.UTC(2026, 10, 22) },
      ],
      exhausted: null,
      retryAfterSeconds: 0,
      refusalsBeforeBan: 0,
      nextBanSeconds: 0,
      bannedByOperator: false,
      earnedBanLevel: 0,
      takenAt: NOW,
      decidedAt: NOW,
    });
    refund(windows, LIMITS, decision.takenAt);
    expect(windows).toMatchObject({ minuteCount: 0, dayCount: 0 });
  });

  it('ends a series of refusals', () => {
    const windows = newWindowState(NOW);
    const bans = newBanState();
    decideToTheBrink(windows, bans);
    expect(decide(windows, bans, { perMinute: 3, perDay: 100 }, NOW + 1_000).outcome).toBe('allowed');
    expect(decideTimes(20, windows, bans, NOW + 1_000).map((d) => d.outcome)).not.toContain('banned');
  });
});

describe('a refused request', () => {
  it('names its window, its wait in whole seconds, and what is left before a ban', () => {
    const windows = newWindowState(NOW);
    const bans = newBanState();
    decideTimes(2, windows, bans);
    expect(decide(windows, bans, LIMITS, NOW + 59_999)).toMatchObject({
      outcome: 'limited',
      exhausted: 'minute',
      retryAfterSeconds: 1,
      refusalsBeforeBan: 11,
      nextBanSeconds: 120,
      takenAt: NOTHING_TAKEN,
    });
  });

  it('bans the key at the 11th that counts, and reports the ban', () => {
    const windows = newWindowState(NOW);
    const bans = newBanState();
    const decisions = decideToTheBrink(windows, bans).slice(3);
    expect(decisions.map((d) => [d.outcome, d.refusalsBeforeBan])).toEqual(
      Array.from({ length: 10 }, (_none, index) => ['limited', 10 - index]),
    );
    expect(decide(windows, bans, LIMITS, NOW + 1_000)).toMatchObject({
      outcome: 'banned',
      earnedBanLevel: 1,
      exhausted: null,
      retryAfterSeconds: 120,
      nextBanSeconds: 600,
    });
    refund(windows, LIMITS, decisions[0]!.takenAt);
    expect(windows).toMatchObject({ minuteCount: 2, dayCount: 2 });
  });

  it('never bans an address', () => {
    const decisions = decideTimes(50, newWindowState(NOW), null).slice(2);
    expect(new Set(decisions.map((d) => d.outcome))).toEqual(new Set(['limited']));
    expect(decisions[0]).toMatchObject({ refusalsBeforeBan: 0, nextBanSeconds: 0 });
  });
});

describe('a request with a banned key', () => {
  it('uses no quota and does not extend the ban', () => {
    const windows = newWindowState(NOW);
    const bans = newBanState();
    decideToTheBrink(windows, bans);
    decide(windows, bans, LIMITS, NOW + 1_000);
    const [counts, until] = [windows.dayCount, bans.bannedUntil];
    for (let now = NOW + 1_500; now < until; now += 1_000) {
      expect(decide(windows, bans, LIMITS, now)).toMatchObject({
        outcome: 'banned',
        earnedBanLevel: 0,
        retryAfterSeconds: Math.ceil((until - now) / 1000),
        takenAt: NOTHING_TAKEN,
      });
    }
    expect([windows.dayCount, bans.bannedUntil]).toEqual([counts, until]);
    expect(decide(windows, bans, LIMITS, until).outcome).toBe('allowed');
  });

  it('does not affect other keys of the client', () => {
    const windows = newWindowState(NOW);
    decideToTheBrink(windows, newBanState());
    expect(decide(windows, newBanState(), LIMITS, NOW).outcome).toBe('limited');
    expect(decide(windows, newBanState(), LIMITS, NOW + 60_000).outcome).toBe('allowed');
  });
});
