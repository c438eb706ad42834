import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '../../../src/modules/quotas/rules/limits';

/** Longer than any test takes whose counts must not begin anew meanwhile. */
const MARGIN_MS = 90_000;

/** Processes have the real time: no test with them begins shortly before midnight (UTC), where quotas begin anew. */
beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < MARGIN_MS) await sleep(left);
});
