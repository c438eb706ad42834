import { ADDRESS_LIMITS, limitsOf } from '../../../../src/modules/quotas/rules/limits';

it.each([
  ['free', null, null, { perMinute: 60, perDay: 1_000 }],
  ['pro', null, null, { perMinute: 300, perDay: 10_000 }],
  ['business', null, null, { perMinute: 1_000, perDay: 100_000 }],
  ['enterprise', 5_000, 1_000_000, { perMinute: 5_000, perDay: 1_000_000 }],
])('%s allows so many requests a minute and a day', (plan, perMinute, perDay, limits) => {
  expect(limitsOf({ plan, perMinute, perDay })).toEqual(limits);
});

it.each(['gold', 'Free', '', 'constructor'])('No limits are known of the plan "%s"', (plan) => {
  expect(() => limitsOf({ plan, perMinute: null, perDay: null })).toThrow(`no limits of the plan ${plan}.`);
});

it('A fixed plan ignores limits left over from enterprise, and an address has no daily limit', () => {
  const free = { perMinute: 60, perDay: 1_000 };
  expect(limitsOf({ plan: 'free', perMinute: 9_999, perDay: 9_999 })).toEqual(free);
  expect(ADDRESS_LIMITS).toEqual({ perMinute: 60, perDay: null });
});
