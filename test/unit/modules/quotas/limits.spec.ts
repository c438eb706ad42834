import { ADDRESS_LIMITS, agreedPlan, limitsOf } from '../../../../src/modules/quotas/rules/limits';
import { countedAddress } from '../../../../src/modules/quotas';

it.each<[string, Parameters<typeof agreedPlan>, number, number]>([
  ['free', ['free'], 60, 1_000],
  ['pro', ['pro'], 300, 10_000],
  ['business', ['business'], 1_000, 100_000],
  ['enterprise, as agreed on,', ['enterprise', 5_000, 1_000_000], 5_000, 1_000_000],
])('%s allows so many requests a minute and a day', (_plan, choice, perMinute, perDay) => {
  expect(limitsOf(agreedPlan(...choice))).toEqual({ perMinute, perDay });
});

it.each<[string, Parameters<typeof agreedPlan>, RegExp]>([
  ['an unknown plan', ['gold'], /no plan gold.*free, pro, business, enterprise/],
  ['a plan in capitals', ['Free'], /no plan Free/],
  ['no name', [''], /no plan/],
  ['a name that every object has', ['constructor'], /no plan constructor/],
  ['enterprise without limits', ['enterprise'], /--per-minute and --per-day/],
  ['enterprise without the day', ['enterprise', 10], /--per-minute and --per-day/],
  ['enterprise without the minute', ['enterprise', undefined, 10], /--per-minute and --per-day/],
  ['a fixed plan with a minute of its own', ['free', 10], /fixed limits/],
  ['a fixed plan with a day of its own', ['pro', undefined, 10], /fixed limits/],
])('A plan is rejected with %s', (_what, choice, message) => {
  expect(() => agreedPlan(...choice)).toThrow(message);
});

it('A fixed plan ignores limits left over from enterprise, and an address has no daily limit', () => {
  const free = { perMinute: 60, perDay: 1_000 };
  expect(limitsOf({ plan: 'free', perMinute: 9_999, perDay: 9_999 })).toEqual(free);
  expect(ADDRESS_LIMITS).toEqual({ perMinute: 60, perDay: null });
});

it.each([
  ['an IPv4 address as itself', '192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address as the IPv4 address', '::ffff:192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address in capitals', '::FFFF:192.0.2.7', '192.0.2.7'],
  ['an IPv4-mapped address in hexadecimal', '::ffff:c000:207', '192.0.2.7'],
  ['an IPv4 address without the port a proxy wrote', '192.0.2.7:51234', '192.0.2.7'],
  ['an IPv6 address without brackets and port', '[2001:db8:1:2ff::1]:443', '2001:db8:1:200::/56'],
  ['an IPv6 address without its brackets', '[2001:db8:1:2ff::1]', '2001:db8:1:200::/56'],
  ['an IPv6 address by its /56', '2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
  ['another address of that /56 likewise', '2001:DB8:1:201:ffff:ffff:ffff:ffff', '2001:db8:1:200::/56'],
  ['the next /56 separately', '2001:db8:1:300::1', '2001:db8:1:300::/56'],
  ['an IPv6 address without its zone', 'fe80::1%eth0', 'fe80::/56'],
  ['an invalid address as a common one', 'unknown', 'unknown'],
  ['any other invalid address as the same one', 'x'.repeat(5_000), 'unknown'],
  ['a missing address as the same one', '', 'unknown'],
])('an address counts %s', (_rule, ip, address) => {
  expect(countedAddress(ip)).toBe(address);
});
