import {
  RETRY_DELAYS_MS,
  errorOf,
  askedPauseMs,
} from '../../../../src/modules/webhooks/delivery/retry-schedule';

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const HOUR = 3_600_000;

it('A delivery is retried after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h', () => {
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR);
  expect(RETRY_DELAYS_MS).toEqual([5_000, 300_000, 1_800_000, ...hours]);
});

it('2xx and nothing else is a success', () => {
  const all = [199, 200, 204, 299, 300, 304, 404, 409, 410, 411, 500];
  expect(all.filter((status) => errorOf(status) === null)).toEqual([200, 204, 299]);
  expect(errorOf(307)).toBe('The response was 307; redirects are not followed.');
});

test.each<readonly [string, string, number]>([
  ['seconds', '120', 120_000],
  ['a date', new Date(NOW + 90_000).toUTCString(), 90_000],
  ['a date that has passed', new Date(NOW - 90_000).toUTCString(), 1_000],
  ['zero', '0', 1_000],
  ['a year', '31536000', 24 * HOUR],
  ['a date as RFC 850 writes it', 'Saturday, 21-Nov-26 09:32:00 GMT', 120_000],
  ['more seconds than a number holds', '9'.repeat(400), 24 * HOUR],
  ...'soon|-5|1.5|1e3|0x10|2026-11-21T09:32:00Z|21 Nov 2026|Sat, 21 Nov 2026 09:32:00 +0100'
    .split('|')
    .map((nonsense) => [`nonsense such as ${nonsense}`, nonsense, 10_000] as const),
])('Retry-After with %s slows deliveries down', (_name, retryAfter, pause) => {
  expect(askedPauseMs({ status: 429, retryAfter }, NOW)).toEqual(pause);
});

it('Without Retry-After 429, 502, 503 and 504 slow down by 10 s; other statuses never do', () => {
  expect([429, 502, 503, 504].map((status) => askedPauseMs({ status }, NOW))).toEqual(Array(4).fill(10_000));
  const others = [200, 400, 500, null].map((status) => askedPauseMs({ status, retryAfter: '60' }, NOW));
  expect(others).toEqual([0, 0, 0, 0]);
});
