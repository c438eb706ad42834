import { ADDRESS_LIMITS, limitsOf } from '../../../../src/modules/quotas/rules/limits';
import { countedAddress } from '../../../../src/modules/quotas';

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
