import {
  MAX_ATTEMPTS,
  errorOf,
  pauseAfter,
  slowDownMs,
} from '../../../../src/modules/webhooks/delivery/retry-schedule';

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const HOUR = 3_600_000;

it('A delivery is retried after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h, up to a tenth later, and then stops', () => {
  const pauses = Array.from({ length: MAX_ATTEMPTS }, (_, index) => pauseAfter(index + 1, 0));
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR);
  expect(pauses).toEqual([5_000, 300_000, 1_800_000, ...hours, null]);
  expect(pauseAfter(1, 1)).toBe(5_500);
});

it('2xx and nothing else is a success', () => {
  const all = [199, 200, 204, 299, 300, 304, 404, 409, 410, 411, 500];
  expect(all.filter((status) => errorOf({ status }) === null)).toEqual([200, 204, 299]);
  expect(errorOf({ status: 307 })).toBe('The response was 307; redirects are not followed.');
});

it('A missing response is a failure with its reason', () => {
  const failure = 'The connection was refused.';
  expect(errorOf({ status: null, failure })).toBe(failure);
});

test.each([
  ['seconds', '120', 120_000],
  ['a date', new Date(NOW + 90_000).toUTCString(), 90_000],
  ['a date that has passed', new Date(NOW - 90_000).toUTCString(), 1_000],
  ['zero', '0', 1_000],
  ['a year', '31536000', 24 * HOUR],
  ['nonsense', 'soon', 10_000],
  ['a negative number', '-5', expect.any(Number) as number],
])('Retry-After with %s slows deliveries down', (_name, retryAfter, pause) => {
  expect(slowDownMs({ status: 429, retryAfter }, NOW)).toEqual(pause);
});

it('Without Retry-After 429, 502, 503 and 504 slow down by 10 s; other statuses never do', () => {
  expect([429, 502, 503, 504].map((status) => slowDownMs({ status }, NOW))).toEqual(Array(4).fill(10_000));
  const others = [200, 400, 500, null].map((status) => slowDownMs({ status, retryAfter: '60' }, NOW));
  expect(others).toEqual([0, 0, 0, 0]);
});
