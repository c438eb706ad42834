import fc from 'fast-check';
import {
  BAN_DURATIONS_MS,
  FORGIVENESS_MS,
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
} from '../../../src/modules/quotas/rules/ban-rules';

const NOW = Date.UTC(2026, 10, 21, 9);
const RESET = NOW + 60_000;
const MINUTES = BAN_DURATIONS_MS.map((duration) => duration / 60_000);

function strikes(count: number, bans: BanState, now = NOW, resetAt = RESET): boolean[] {
  return Array.from({ length: count }, () => strike(bans, now, resetAt));
}

describe('a series of refused requests', () => {
  it('bans at the 11th, not earlier', () => {
    const bans = newBanState();
    const left = Array.from({ length: 10 }, () => {
      expect(strike(bans, NOW, RESET)).toBe(false);
      return refusalsBeforeBan(bans, NOW);
    });
    expect(left).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(strike(bans, NOW, RESET)).toBe(true);
    expect(isBanned(bans, NOW)).toBe(true);
  });

  it('ends with the announced wait', () => {
    const bans = newBanState();
    strikes(10, bans);
    expect(refusalsBeforeBan(bans, RESET - 1)).toBe(1);
    expect(refusalsBeforeBan(bans, RESET)).toBe(11);
    expect(strike(bans, RESET, RESET + 60_000)).toBe(false);
    expect(refusalsBeforeBan(bans, RESET)).toBe(10);
  });

  it('lasts as long as the longest wait announced in it', () => {
    const bans = newBanState();
    strike(bans, NOW, RESET + 3_600_000);
    strikes(9, bans);
    expect(strike(bans, RESET + 1, RESET + 60_001)).toBe(true);
  });

  it('is ended by an allowed request', () => {
    const bans = newBanState();
    strikes(10, bans);
    endSeries(bans);
    expect(strikes(10, bans)).not.toContain(true);
  });

  it('restarts after a ban', () => {
    const bans = newBanState();
    strikes(11, bans, NOW, NOW + 10 * FORGIVENESS_MS);
    const later = bans.bannedUntil;
    expect(isBanned(bans, later - 1)).toBe(true);
    expect(isBanned(bans, later)).toBe(false);
    expect(refusalsBeforeBan(bans, later)).toBe(11);
  });
});

describe('the duration of bans', () => {
  it('is 2 minutes, then 10 minutes, 1 hour, 24 hours, 72 hours, and 72 hours from then on', () => {
    const bans = newBanState();
    let now = NOW;
    const durations = Array.from({ length: 7 }, () => {
      const announced = nextBanMs(bans, now);
      strikes(11, bans, now, now + 60_000);
      expect(bans.bannedUntil - now).toBe(announced);
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

  it('begins the clean 24 hours again with each ban', () => {
    const bans = newBanState();
    ban(bans, NOW);
    ban(bans, bans.bannedUntil);
    ban(bans, bans.bannedUntil + FORGIVENESS_MS + FORGIVENESS_MS / 2);
    expect(banLevel(bans, bans.bannedUntil)).toBe(2);
    expect(banLevel(bans, bans.bannedUntil + FORGIVENESS_MS / 2)).toBe(2);
    expect(banLevel(bans, bans.bannedUntil + FORGIVENESS_MS)).toBe(1);
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
          strikes(11, bans, now, now + 1);
          unforgiven = Math.min(5, unforgiven + 1);
          now = bans.bannedUntil;
        }
      }),
    );
  });
});

describe('manually', () => {
  it('a ban lasts as long as the operator sets and counts as one', () => {
    const bans = newBanState();
    ban(bans, NOW, 5_000);
    expect(bans).toMatchObject({ bannedUntil: NOW + 5_000, level: 1 });
  });

  it('a ban during a ban replaces it and is not a further level', () => {
    const bans = newBanState();
    ban(bans, NOW);
    ban(bans, NOW + 1, 5_000);
    expect(bans).toMatchObject({ bannedUntil: NOW + 5_001, level: 1 });
  });

  it('lifting a ban ends it at once and removes its level', () => {
    const bans = newBanState();
    strikes(11, bans);
    unban(bans, NOW + 1);
    expect(isBanned(bans, NOW + 1)).toBe(false);
    expect(nextBanMs(bans, NOW + 1)).toBe(BAN_DURATIONS_MS[0]);
    expect(refusalsBeforeBan(bans, NOW + 1)).toBe(11);
  });

  it('lifting a ban that does not exist changes nothing', () => {
    const bans = newBanState();
    strikes(11, bans);
    const before = { ...bans };
    unban(bans, bans.bannedUntil);
    expect(bans).toEqual(before);
  });
});
