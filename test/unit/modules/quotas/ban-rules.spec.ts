import {
  FORGIVENESS_MS,
  NOTICE_MS,
  applyStoredBan,
  ban,
  banLevel,
  isBanned,
  newBanState,
  nextBanMs,
  countRefusal,
  type BanState,
} from '../../../../src/modules/quotas/rules/decision';

const NOW = Date.UTC(2026, 10, 21, 9);

function strikes(count: number, bans: BanState, now = NOW): boolean[] {
  return Array.from({ length: count }, () => countRefusal(bans, now));
}

/** One refusal that gives notice, and those that count. @returns when they were refused */
function earnBan(bans: BanState, now = NOW): number {
  strikes(1, bans, now);
  expect(strikes(11, bans, now + NOTICE_MS).at(-1)).toBe(true);
  return now + NOTICE_MS;
}

/** Refusals after pauses of so many milliseconds. @returns whether one of them bans */
function refusedAfter(pauses: readonly number[]): boolean {
  const bans = newBanState();
  let now = NOW;
  return pauses.some((pause) => countRefusal(bans, (now += pause)));
}

describe('a series of refused requests', () => {
  it.each([
    ['backs off exponentially', Array.from({ length: 18 }, (_, index) => 1_000 * 2 ** index)],
    ['asks twice a minute until the day is over', Array<number>(2_880).fill(30_000)],
    ['sends many at once, and none after a second', Array<number>(500).fill(0)],
  ])('never bans who %s', (_who, pauses) => {
    expect(refusedAfter(pauses)).toBe(false);
  });

  it('bans with the 11th refusal that counts within 60 seconds of the first', () => {
    expect(refusedAfter([0, ...Array<number>(10).fill(5_000)])).toBe(false);
    expect(refusedAfter([0, ...Array<number>(11).fill(5_000)])).toBe(true);
    expect(refusedAfter([0, 1_000, ...Array<number>(9).fill(6_000), 4_999])).toBe(true);
    expect(refusedAfter([0, 1_000, ...Array<number>(9).fill(6_000), 5_000])).toBe(false);
  });
});

describe('what the database has', () => {
  it('is taken over once, and never replaces what is newer', () => {
    const bans = newBanState();
    const stored = { level: 1, bannedUntil: NOW + 1, byOperator: true, changedAt: 7 };
    applyStoredBan(bans, stored);
    expect(bans).toMatchObject(stored);
    earnBan(bans, NOW + 1);
    const earned = { ...bans };
    applyStoredBan(bans, stored);
    applyStoredBan(bans, { ...stored, changedAt: 6 });
    expect(bans).toEqual(earned);
    applyStoredBan(bans, { ...stored, changedAt: 8 });
    expect(isBanned(bans, NOW + 2_000)).toBe(false);
  });
});

describe('the duration of bans', () => {
  it('is 2 minutes, then 10 minutes, 1 hour, 24 hours, 72 hours, and 72 hours from then on', () => {
    const bans = newBanState();
    let now = NOW;
    const durations = Array.from({ length: 7 }, () => {
      const announced = nextBanMs(bans, now);
      const bannedAt = earnBan(bans, now);
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
});
