import { Allowances, FIRST } from '../../../src/modules/webhooks/delivery/schedule';

const QUICK = { succeeded: true, tookMs: 5 };
const SLOW = { succeeded: true, tookMs: 14_000 };
const FAILED = { succeeded: false, tookMs: 5 };

/** What a webhook may have under way after these outcomes. */
function allowedAfter(...outcomes: { succeeded: boolean; tookMs: number }[]): number {
  const allowances = new Allowances();
  for (const outcome of outcomes) {
    allowances.begin(7);
    allowances.end(7, outcome);
  }
  return allowances.freeByWebhook()[7] ?? FIRST;
}

it('A receiver that responds quickly gets more deliveries at once, up to 32', () => {
  expect(allowedAfter(QUICK)).toBe(FIRST + 1);
  expect(allowedAfter(...Array<typeof QUICK>(100).fill(QUICK))).toBe(32);
});

it('A receiver that fails or is slow soon gets one at a time', () => {
  expect(allowedAfter(FAILED, FAILED, FAILED)).toBe(1);
  expect(allowedAfter(SLOW, SLOW, SLOW)).toBe(1);
  expect(allowedAfter(...Array<typeof QUICK>(100).fill(QUICK), FAILED)).toBe(16);
});

it('Deliveries in progress count', () => {
  const allowances = new Allowances();
  allowances.begin(1);
  allowances.begin(1);
  allowances.begin(2);
  expect(allowances.freeByWebhook()).toEqual({ 1: FIRST - 2, 2: FIRST - 1 });
});

it('It forgets webhooks that are not used, and never one that is', () => {
  const allowances = new Allowances();
  allowances.begin(0);
  for (let id = 1; id <= 1_050; id += 1) {
    allowances.begin(id);
    allowances.end(id, QUICK);
  }
  const remembered = Object.keys(allowances.freeByWebhook());
  expect(remembered.length).toBeLessThanOrEqual(1_000);
  expect(remembered).toContain('0');
});
