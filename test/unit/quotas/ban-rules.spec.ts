import fc from 'fast-check';
import {
  BAN_DURATIONS_MS,
  FORGIVENESS_MS,
  NOTICE_MS,
  ban,
  banLevel,
  endSeries,
  isBanned,
  newBanState,
  nextBanMs,
  refusalsBeforeBan,
  strike,
  unban,
  type BanState,
} from '../../../src/modules/quotas/rules/decision';

const NOW = Date.UTC(2026, 10, 21, 9);
const RESET = NOW + 60_000;
const MINUTES = BAN_DURATIONS_MS.map((duration) => duration / 60_000);

function strikes(count: number, bans: BanState, now = NOW, resetAt = RESET): boolean[] {
  return Array.from({ length: count }, () => strike(bans, now, resetAt));
}

/** One refusal that gives notice, and those that count. @returns when they were refused */
function earnBan(bans: BanState, now = NOW, resetAt = RESET): number {
  strikes(1, bans, now, resetAt);
  expect(strikes(11, bans, now + NOTICE_MS, resetAt).at(-1)).toBe(true);
  return now + NOTICE_MS;
}

describe('a series of refused requests', () => {
  it('lasts as long as the longest wait announced in it', () => {
    const bans = newBanState();
    strike(bans, NOW, RESET + 3_600_000);
    strikes(10, bans, NOW + NOTICE_MS);
    expect(strike(bans, RESET + 1, RESET + 60_001)).toBe(true);
  });

  it('bans as a naive count of its refusals does, while time goes forward', () => {
    const refusal = fc.record({
      pause: fc.oneof(fc.constantFrom(0, 999, 1_000), fc.nat(3_000)),
      wait: fc.nat(20_000),
      isAllowed: fc.integer({ min: 0, max: 20 }).map((one) => one === 0),
    });
    fc.assert(
      fc.property(fc.array(refusal, { maxLength: 60, size: 'max' }), (all) => {
        const bans = newBanState();
        let [now, end, series] = [NOW, 0, [] as number[]];
        return all.every(({ pause, wait, isAllowed }) => {
          now += pause;
          if (isBanned(bans, now)) return true;
          if (isAllowed) {
            endSeries(bans);
            series = [];
            return true;
          }
          if (now >= end) series = [];
          end = Math.max(series.length > 0 ? end : 0, now + wait);
          series.push(now);
          const isBan = series.filter((at) => at >= series[0]! + NOTICE_MS).length === 11;
          if (isBan) series = [];
          return strike(bans, now, now + wait) === isBan;
        });
      }),
    );
  });
});

describe('the duration of bans', () => {
  it('is 2 minutes, then 10 minutes, 1 hour, 24 hours, 72 hours, and 72 hours from then on', () => {
    const bans = newBanState();
    let now = NOW;
    const durations = Array.from({ length: 7 }, () => {
      const announced = nextBanMs(bans, now);
      const bannedAt = earnBan(bans, now, now + 60_000);
      expect(bans.bannedUntil - bannedAt).toBe(announced);
      now = bans.bannedUntil;
      return announced / 60_000;
    });
    expect(durations).toEqual([2, 10, 60, 1_440, 4_320, 4_320, 4_320]);
  });

  it('forgives one level for each clean 24 hours since the last ban ended, and none during a ban', () => {
    const bans = newBanState();
    for (let i = 0, now = NOW; i < 8; i += 1, now = bans.bannedUntil) ban(bans, now);
    const end = bans.bannedUntil;
    const minutesAfter = (days: number, ms = 0): number =>
      nextBanMs(bans, end + days * FORGIVENESS_MS + ms) / 60_000;
    expect(banLevel(bans, end - 1)).toBe(5);
    expect(banLevel(bans, end + FORGIVENESS_MS - 1)).toBe(5);
    expect([1, 2, 3, 4, 5, 9].map((days) => minutesAfter(days))).toEqual([4_320, 1_440, 60, 10, 2, 2]);
    expect(minutesAfter(2, -1)).toBe(4_320);
  });

  it('follows a count of unforgiven bans, whatever the pauses are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 * FORGIVENESS_MS }), { maxLength: 40 }), (pauses) => {
        const bans = newBanState();
        let now = NOW;
        let unforgiven = 0;
        for (const pause of pauses) {
          now += pause;
          unforgiven = Math.max(0, unforgiven - Math.floor(pause / FORGIVENESS_MS));
          expect(nextBanMs(bans, now) / 60_000).toBe(MINUTES[Math.min(unforgiven, 4)]);
          ban(bans, now);
          unforgiven = Math.min(5, unforgiven + 1);
          now = bans.bannedUntil;
        }
      }),
    );
  });
});

describe('manually', () => {
  it('a ban lasts as long as the operator sets and counts as one; one during a ban replaces it', () => {
    const bans = newBanState();
    ban(bans, NOW, { durationMs: 5_000, byOperator: true });
    expect(bans).toMatchObject({ bannedUntil: NOW + 5_000, level: 1, byOperator: true });
    ban(bans, NOW + 1, { durationMs: 6_000, byOperator: true });
    expect(bans).toMatchObject({ bannedUntil: NOW + 6_001, level: 1 });
    earnBan(bans, bans.bannedUntil, bans.bannedUntil + MINUTES[0]! * 60_000);
    expect(bans).toMatchObject({ level: 2, byOperator: false });
  });

  it('lifting a ban ends it at once and removes its level; lifting none changes nothing', () => {
    const bans = newBanState();
    const now = earnBan(bans) + 1;
    const before = { ...bans };
    unban(bans, bans.bannedUntil);
    expect(bans).toEqual(before);
    unban(bans, now);
    expect(isBanned(bans, now)).toBe(false);
    expect(nextBanMs(bans, now)).toBe(BAN_DURATIONS_MS[0]);
    expect(refusalsBeforeBan(bans, now)).toBe(11);
  });
});
