import { readRateLimit, readRetryAfter } from '../../../../libs/client/src/responses';
import { nextCursor } from '../../../../libs/client/src/results';
import { isWorthRepeating, waitBeforeNext } from '../../../../libs/client/src/exchange';
import type { DeprecationNotice } from '#libs/client';
import { configure } from '../../../../libs/client/src/options';
import { json, scriptedClient } from '../../../support/scripted';

const LIMITS = {
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253460',
};

it('Rate limit fields are read together', () => {
  expect(readRateLimit(new Headers(LIMITS))).toEqual({
    limit: 60,
    remaining: 59,
    resetAt: new Date('2026-11-21T09:31:00Z'),
  });
});

it.each([{}, { ...LIMITS, 'X-RateLimit-Reset': 'soon' }, { ...LIMITS, 'X-RateLimit-Remaining': '-1' }])(
  'Rate limit fields are ignored when incomplete or not numeric: %j',
  (fields) => {
    expect(readRateLimit(new Headers(fields as Record<string, string>))).toBeUndefined();
  },
);

it.each([
  ['42', 42],
  ['0', 0],
  ['soon', undefined],
])('Retry-After: %s is %s seconds', (field, seconds) => {
  expect(readRetryAfter(new Headers({ 'Retry-After': field }))).toBe(seconds);
});

it.each([
  ['</pets?limit=2&cursor=YWZ0ZXI6Mg>; rel="next"', 'YWZ0ZXI6Mg'],
  ['<https://elsewhere.test/store/pets?cursor=a%2Bb&name=a>; rel="next"', 'a+b'],
  ['</docs>; rel="deprecation"; type="text/html", </pets?cursor=a>; rel="next"', 'a'],
  ['</pets?cursor=a>; rel="prev"', undefined],
  ['</pets>; rel="next"', undefined],
])('Link: %s leads to the cursor %s', (Link, cursor) => {
  expect(nextCursor(new Headers({ Link }))).toBe(cursor);
});

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

const NOTICE: DeprecationNotice = {
  operation: 'GET /pets/{petId}',
  since: new Date('2026-11-01T00:00:00Z'),
  sunset: new Date('2027-11-01T00:00:00Z'),
  successor: '/pets?id=1',
};
const { onDeprecation } = configure({ baseUrl: 'http://store.test', apiKey: 'a' });
const WARNING =
  'Pet Store: GET /pets/{petId} is deprecated and may be gone from 2027-11-01; its successor is /pets?id=1.';

afterEach(() => jest.restoreAllMocks());

it('The default warning is a deprecation warning of the process', () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onDeprecation(NOTICE);
  expect(emitWarning.mock.calls).toEqual([
    [WARNING, { type: 'DeprecationWarning', code: 'PETSTORE_DEPRECATION' }],
  ]);
});

it('Without a process, as in a browser, it goes to the console', () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
  const { process } = globalThis;
  try {
    Object.assign(globalThis, { process: undefined });
    onDeprecation({ operation: 'GET /pets' });
  } finally {
    Object.assign(globalThis, { process });
  }
  expect(warn.mock.calls).toEqual([['Pet Store: GET /pets is deprecated.']]);
});

it('A notice has only what the response contains', async () => {
  const notices: DeprecationNotice[] = [];
  const { client } = scriptedClient([json([], { Deprecation: 'true', Sunset: 'soon' })], {
    onDeprecation: (notice) => notices.push(notice),
  });
  await client.pets.list();
  expect(notices).toEqual([{ operation: 'GET /pets' }]);
});

const page = (ids: number[], cursor?: string) =>
  json(
    ids.map((id) => ({ id, name: 'Rex', categoryId: 1 })),
    cursor === undefined ? {} : { Link: `<https://elsewhere.test/pets?cursor=${cursor}>; rel="next"` },
  );

async function idsOf(entries: AsyncIterable<{ id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of entries) {
    ids.push(id);
  }
  return ids;
}

describe('The pages of a list', () => {
  it('are requested from the same host, with the given filters, whatever the link says', async () => {
    const { client, sent } = scriptedClient([page([1, 2], 'a'), page([3])], {
      baseUrl: 'https://store.test/v1/',
    });
    expect(await idsOf(client.pets.list({ status: ['available', 'sold'] }))).toEqual([1, 2, 3]);
    expect(sent.map(({ url }) => url)).toEqual([
      'https://store.test/v1/pets?limit=100&status=available&status=sold',
      'https://store.test/v1/pets?limit=100&status=available&status=sold&cursor=a',
    ]);
  });

  it('are not those of the whole list when a filter is an empty array', async () => {
    const { client, sent } = scriptedClient([page([])]);
    await client.pets.list({ id: [] });
    expect(sent[0]!.url).toMatch(/\/pets\?id=$/);
  });

  it('are read only on demand', async () => {
    const { client, sent } = scriptedClient([page([1, 2], 'a'), page([3])]);
    for await (const { id } of client.pets.list()) {
      if (id === 2) break;
    }
    expect(sent.length).toBe(1);
  });
});
