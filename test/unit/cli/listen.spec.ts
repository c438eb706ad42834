import { pauseMs } from '../../../src/modules/webhooks/listen.command';

const NOON = 'Sat, 21 Nov 2026 12:00:00 GMT';

test.each([
  ['7', 7_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['9999999999', 24 * 3_600_000],
  // What asks for nothing, or is invalid.
  [NOON, 2_000],
  ['0', 2_000],
  ['soon', 2_000],
  ['', 2_000],
])(
  'webhooks listen waits as a Retry-After says, by the clock of the service: %j',
  (retryAfter, milliseconds) => {
    expect(pauseMs(new Headers({ Date: NOON, 'Retry-After': retryAfter }))).toBe(milliseconds);
  },
);

test('webhooks listen waits for a moment where no service answers', () => {
  expect(pauseMs()).toBe(2_000);
});
