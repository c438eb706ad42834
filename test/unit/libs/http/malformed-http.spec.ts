import type { IncomingMessage } from 'node:http';
import { repairRequestTarget, requestIdOf } from '#libs/http';
import { isHost } from '../../../../libs/http/src/malformed-http';

it('A Host is a name or an address, with a port or without', () => {
  const good = ['store.example store.example:8080 store_1.example:', "a%20b a!$&'()*+,;=~b 192.0.2.1:65535"];
  const addresses = ' [::1] [2001:db8::1]:80 [::ffff:192.0.2.1]';
  const all = [...good, addresses].flatMap((line) => line.split(' '));
  expect(all.filter((value) => !isHost(value))).toEqual([]);
  const bad =
    'a/b a?b a#b a@b a\\b <script> "a" a%zz m\u00fcnchen [::1 ::1 [::1]x [zz] [:::] [fe80::1%25eth0]';
  const ports = 'a:99999 a:65536 a:b a:80:80 http://a';
  expect(['a b', ...bad.split(' '), ...ports.split(' ')].filter((value) => isHost(value))).toEqual([]);
});

const idOf = (given?: string | string[]) =>
  requestIdOf({ headers: { 'x-request-id': given } } as unknown as IncomingMessage);

test.each(['a', '0', 'A-b_c.D', 'x'.repeat(128)])('%.20s is accepted', (id) => {
  expect(idOf(id)).toBe(id);
});

test.each([undefined, '', ' ', 'a b', 'a/b', 'a:b', 'é', 'a\n', '"a"', 'x'.repeat(129), ['a'], ['a', 'b']])(
  '%j is replaced by a random one',
  (id) => {
    expect(idOf(id)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idOf(id)).not.toBe(idOf(id));
  },
);

it('A target is routed as it is where it can be decoded, and else as text', () => {
  const routed = {
    ...{ '/pets': '/pets', '/pets/%31?name=%zz': '/pets/%31?name=%zz', '/caf%C3%A9': '/caf%C3%A9' },
    ...{
      '/100%': '/100%25',
      '/%zz': '/%25zz',
      '/%zz/%31': '/%25zz/%2531',
      '/%ff': '/%25ff',
      '*': '/*',
      '': '',
    },
    ...{ '/%c0%af': '/%25c0%25af', '/%ed%a0%80': '/%25ed%25a0%2580', '/%f0%9f%90': '/%25f0%259f%2590' },
    '/%zz?a=%31&b=%zz': '/%25zz?a=%31&b=%zz',
  };
  const repaired = Object.keys(routed).map((target) => [target, repairRequestTarget(target)]);
  expect(Object.fromEntries(repaired)).toEqual(routed);
});

it('A repaired target can be decoded', () => {
  for (const target of ['/%', '/%%%', '/%u0041', `/${'%f'.repeat(1_000)}`]) {
    expect(decodeURIComponent(repairRequestTarget(target))).toBe(target);
  }
});
