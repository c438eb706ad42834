import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '#libs/clock';

/** Longer than any test that counts requests takes. */
const MARGIN_MS = 90_000;

/** Delays tests that would begin shortly before midnight (UTC), because processes have the real time, and daily quotas begin anew then. */
beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < MARGIN_MS) await sleep(left);
});
