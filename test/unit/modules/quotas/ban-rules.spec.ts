import {
  FORGIVENESS_MS,
  NOTICE_MS,
  banByOperator,
  banLevel,
  isBanned,
  newBanState,
  nextBanMs,
  countRefusal,
  unban,
  type BanState,
} from '../../../../src/modules/quotas/rules/bans';

const NOW = Date.UTC(2026, 10, 21, 9);

/** The limit per minute of the plan free, and how many counted refusals ban its key. */
const FREE = 60;
const BANNING = 31;

function refuse(ban: BanState, now: number, windowEnd = Infinity, perMinute = FREE): boolean {
  return countRefusal(ban, { perMinute, windowEnd, now });
}

/** Refuses one request, which begins a series, and then as many as ban the key. @returns the time of the ban */
function earnBan(ban: BanState, now = NOW): number {
  refuse(ban, now);
  const counted = Array.from({ length: BANNING }, () => refuse(ban, now + NOTICE_MS));
  expect(counted.indexOf(true)).toBe(BANNING - 1);
  return now + NOTICE_MS;
}

/** Refuses a request after each of these pauses, in milliseconds. @returns true if a refusal bans */
function refusedAfter(pauses: readonly number[], perMinute = FREE): boolean {
  const ban = newBanState();
  let now = NOW;
  return pauses.some((pause) => refuse(ban, (now += pause), Infinity, perMinute));
}

/** Refuses a request at each of these times, in seconds. @returns true if a refusal bans */
function refusedAt(seconds: readonly number[], perMinute?: number): boolean {
  const inOrder = [...seconds].sort((one, other) => one - other);
  return refusedAfter(
    inOrder.map((second, index) => (second - (inOrder[index - 1] ?? 0)) * 1_000),
    perMinute,
  );
}

/** The times at which a process is refused that waits 1, 2, 4 … seconds after each refusal. */
const EXPONENTIAL = Array.from({ length: 18 }, (_, index) => 2 ** index - 1);

describe('a series of refused requests', () => {
  it.each([
    ['backs off exponentially', EXPONENTIAL],
    ['is seven workers that do', Array(7).fill(EXPONENTIAL).flat() as number[]],
    ['asks twice a minute until the day is over', Array.from({ length: 2_880 }, (_, index) => index * 30)],
    ['sends many at once, and none after two seconds', Array<number>(500).fill(1.999)],
    ['is thirty workers that ask once, each later', Array.from({ length: 30 }, (_, index) => 2 + index / 2)],
  ])('never bans a free key that %s', (_who, seconds) => {
    expect(refusedAt([0, ...seconds])).toBe(false);
  });

  it.each([
    ['1 a minute', 1, 11],
    ['20 a minute', 20, 11],
    ['23 a minute', 23, 12],
    ['60 a minute', 60, 31],
    ['300 a minute', 300, 151],
  ])('of a plan with %s bans after ten refusals, or after half of it', (_plan, perMinute, banning) => {
    const series = (counted: number) => [0, ...Array<number>(counted).fill(2)];
    expect(refusedAt(series(banning - 1), perMinute)).toBe(false);
    expect(refusedAt(series(banning), perMinute)).toBe(true);
  });

  it('ends after 60 seconds, or with the window that refused', () => {
    const counted = Array<number>(30).fill(2);
    expect(refusedAt([0, ...counted, 59.999])).toBe(true);
    expect(refusedAt([0, ...counted, 60])).toBe(false);
    const ban = newBanState();
    refuse(ban, NOW, NOW + 5_000);
    for (let count = 0; count < 30; count += 1) refuse(ban, NOW + 4_999, NOW + 5_000);
    expect(refuse({ ...ban }, NOW + 5_000)).toBe(false);
    expect(refuse(ban, NOW + 4_999)).toBe(true);
  });

  it('of workers that wait as Retry-After says never begins before the window of their wait', () => {
    const ban = newBanState();
    // 81 requests are refused in the first minute, which ends at 60 s. In the next minute, 20 are refused together, and one later.
    for (const second of [0.9, ...Array<number>(80).fill(1.25)]) {
      refuse(ban, NOW + second * 1_000, NOW + 60_000);
    }
    const later = [...Array<number>(20).fill(60.25), 60.9];
    const banned = later.map((second) => refuse(ban, NOW + second * 1_000, NOW + 120_250));
    expect(banned).not.toContain(true);
    expect(ban).toMatchObject({ refusals: 0, seriesStart: NOW + 60_250 });
  });
});

describe('the duration of bans', () => {
  it('is 2 minutes, then 10 minutes, 1 hour, 24 hours, 72 hours, and 72 hours from then on', () => {
    const ban = newBanState();
    let now = NOW;
    const durations = Array.from({ length: 7 }, () => {
      const announced = nextBanMs(ban, now);
      const bannedAt = earnBan(ban, now);
      expect(ban.bannedUntil - bannedAt).toBe(announced);
      now = ban.bannedUntil;
      return announced / 60_000;
    });
    expect(durations).toEqual([2, 10, 60, 1_440, 4_320, 4_320, 4_320]);
  });

  it('forgives one level for each clean 24 hours since the last ban ended, and none during a ban', () => {
    const ban = newBanState();
    for (let i = 0, now = NOW; i < 8; i += 1, now = ban.bannedUntil) earnBan(ban, now);
    const end = ban.bannedUntil;
    const minutesAfter = (days: number, ms = 0): number =>
      nextBanMs(ban, end + days * FORGIVENESS_MS + ms) / 60_000;
    expect(banLevel(ban, end - 1)).toBe(5);
    expect(banLevel(ban, end + FORGIVENESS_MS - 1)).toBe(5);
    expect([1, 2, 3, 4, 5, 9].map((days) => minutesAfter(days))).toEqual([4_320, 1_440, 60, 10, 2, 2]);
    expect(minutesAfter(2, -1)).toBe(4_320);
  });
});

it('a ban by an operator uses up no level, nor does lifting it give one back', () => {
  const ban = newBanState();
  const stateAt = (now: number) => [isBanned(ban, now), banLevel(ban, now)];
  banByOperator(ban, NOW, 1_000);
  expect([...stateAt(NOW + 999), nextBanMs(ban, NOW + 1_000)]).toEqual([true, 0, 120_000]);
  earnBan(ban, NOW + 1_000);
  const now = ban.bannedUntil;
  banByOperator(ban, now);
  expect([ban.bannedUntil - now, ban.byOperator]).toEqual([600_000, true]);
  unban(ban, now + 1);
  expect(stateAt(now + 1)).toEqual([false, 1]);
  earnBan(ban, now + 1);
  unban(ban, now + 10_000);
  expect([...stateAt(now + 10_000), ban.byOperator]).toEqual([false, 1, false]);
});
