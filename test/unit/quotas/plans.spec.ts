import {
  ADDRESS_LIMITS,
  InvalidPlanError,
  PLANS,
  agreedPlan,
  limitsOf,
} from '../../../src/modules/quotas/rules/plans';

const NONE = { perMinute: null, perDay: null };

describe('a plan', () => {
  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %i requests a minute and %i a day', (plan, perMinute, perDay) => {
    expect(limitsOf(agreedPlan(plan))).toEqual({ perMinute, perDay });
  });

  it('enterprise allows the agreed limits', () => {
    expect(limitsOf(agreedPlan('enterprise', 5_000, 1_000_000))).toEqual({
      perMinute: 5_000,
      perDay: 1_000_000,
    });
  });

  it('is one of four', () => {
    expect(PLANS).toEqual(['free', 'pro', 'business', 'enterprise']);
  });

  it.each([
    ['an unknown plan', ['gold'], /no plan gold.*free, pro, business, enterprise/],
    ['a plan in capitals', ['Free'], /no plan Free/],
    ['no name', [''], /no plan/],
    ['a name that every object inherits', ['constructor'], /no plan constructor/],
    ['enterprise without limits', ['enterprise'], /--per-minute and --per-day/],
    ['enterprise without --per-day', ['enterprise', 10], /--per-minute and --per-day/],
    ['enterprise without --per-minute', ['enterprise', undefined, 10], /--per-minute and --per-day/],
    ['a fixed plan with --per-minute', ['free', 10], /fixed limits/],
    ['a fixed plan with --per-day', ['pro', undefined, 10], /fixed limits/],
  ] as [string, Parameters<typeof agreedPlan>, RegExp][])('is rejected with %s', (_what, choice, message) => {
    expect(() => agreedPlan(...choice)).toThrow(InvalidPlanError);
    expect(() => agreedPlan(...choice)).toThrow(message);
  });

  it.each(['enterprise', 'gold'])('%s is never unlimited when the database has no limits for it', (plan) => {
    expect(() => limitsOf({ plan, ...NONE })).toThrow();
  });

  it('of a fixed kind ignores limits left over from enterprise', () => {
    expect(limitsOf({ plan: 'free', perMinute: 9_999, perDay: 9_999 })).toEqual({
      perMinute: 60,
      perDay: 1_000,
    });
  });
});

it('an address without a key has 60 requests a minute and no daily limit', () => {
  expect(ADDRESS_LIMITS).toEqual({ perMinute: 60, perDay: null });
});
