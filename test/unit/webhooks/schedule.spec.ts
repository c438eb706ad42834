import {
  MAX_ATTEMPTS,
  errorOf,
  isGone,
  isSuccess,
  pauseAfter,
  slowDownMs,
} from '../../../src/modules/webhooks/delivery/schedule';

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const HOUR = 3_600_000;

describe('the schedule', () => {
  it('retries after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h, and then stops', () => {
    const pauses = Array.from({ length: MAX_ATTEMPTS }, (_, index) => pauseAfter(index + 1, 0));
    expect(pauses).toEqual([
      5_000,
      300_000,
      1_800_000,
      ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
      null,
    ]);
  });

  it('waits up to a tenth longer, never less', () => {
    expect(pauseAfter(1, 0)).toBe(5_000);
    expect(pauseAfter(1, 1)).toBe(5_500);
  });
});

describe('what a response means', () => {
  test.each([
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [304, false],
    [410, false],
    [500, false],
  ])('%s is a success: %s', (status, success) => {
    expect(isSuccess({ status })).toBe(success);
    expect(errorOf({ status }) === null).toBe(success);
  });

  it('only 410 means that the receiver is gone', () => {
    expect([404, 409, 410, 411].filter((status) => isGone({ status }))).toEqual([410]);
  });

  it('a missing response is a failure with its reason', () => {
    expect(errorOf({ status: null, failure: 'The connection was refused.' })).toBe(
      'The connection was refused.',
    );
  });
});

describe('throttling by the receiver', () => {
  test.each([
    ['seconds', '120', 120_000],
    ['a date', new Date(NOW + 90_000).toUTCString(), 90_000],
    ['a date that has passed', new Date(NOW - 90_000).toUTCString(), 1_000],
    ['zero', '0', 1_000],
    ['a year', '31536000', 24 * HOUR],
    ['nonsense', 'soon', 10_000],
    ['a negative number', '-5', expect.any(Number) as number],
  ])('Retry-After with %s', (_name, retryAfter, pause) => {
    expect(slowDownMs({ status: 429, retryAfter }, NOW)).toEqual(pause);
  });

  it('without Retry-After: 10 s; for other statuses none', () => {
    expect([429, 502, 503, 504].map((status) => slowDownMs({ status }, NOW))).toEqual(Array(4).fill(10_000));
    expect([200, 400, 500, null].map((status) => slowDownMs({ status, retryAfter: '60' }, NOW))).toEqual([
      0, 0, 0, 0,
    ]);
  });
});
