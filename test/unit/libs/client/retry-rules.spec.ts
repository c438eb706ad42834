import { isWorthRepeating, waitBeforeNext } from '../../../../libs/client/src/retry-rules';

describe('Another attempt is worthwhile', () => {
  it.each([
    ['after a 429 for every request, because nothing was done', 429, 'rate_limit_exceeded', true, true],
    ['when the first attempt still runs', 409, 'idempotency_in_progress', true, true],
    ['after 503 only when it is safe', 503, 'service_unavailable', true, false],
    ['after 502 only when it is safe', 502, 'unexpected_answer', true, false],
    ['after 504 only when it is safe', 504, 'unexpected_answer', true, false],
    ['without a response only when it is safe', 0, 'no_answer', true, false],
    ['never during a ban', 403, 'api_key_banned', false, false],
    ['never after a redirect that a browser hides', 0, 'unexpected_answer', false, false],
    ['never after another conflict', 409, 'insufficient_stock', false, false],
    ['never after an internal error', 500, 'internal_error', false, false],
    ['never after a rejected request', 400, 'validation_failed', false, false],
  ])('%s', (_rule, status, code, whenSafe, whenNot) => {
    for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
      expect(isWorthRepeating({ status, code }, method)).toBe(whenSafe);
    }
    expect(isWorthRepeating({ status, code }, 'PATCH')).toBe(whenNot);
  });
});

describe('The wait before the next attempt', () => {
  const attempts = [1, 2, 3, 4, 5, 6, 7];

  it('is never less than Retry-After, plus a random part that doubles up to ten seconds', () => {
    expect(attempts.map((attempt) => waitBeforeNext(7, attempt, 0))).toEqual(attempts.map(() => 7_000));
    expect(attempts.map((attempt) => waitBeforeNext(7, attempt, 0.5))).toEqual([
      7_250, 7_500, 8_000, 9_000, 11_000, 12_000, 12_000,
    ]);
  });

  it('is random between half of the backoff and all of it without Retry-After', () => {
    expect(attempts.map((attempt) => waitBeforeNext(undefined, attempt, 0))).toEqual([
      250, 500, 1_000, 2_000, 4_000, 5_000, 5_000,
    ]);
    expect(waitBeforeNext(undefined, 3, 0.999)).toBeCloseTo(1_999, 0);
  });
});
