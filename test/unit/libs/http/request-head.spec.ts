import { isHost } from '../../../../libs/http/src/request-head';

it.each([
  'store.example',
  'store.example:8080',
  'store_1.example:',
  '',
  'a%20b',
  "a!$&'()*+,;=~b",
  '192.0.2.1:65535',
  '[::1]',
  '[2001:db8::1]:80',
  '[::ffff:192.0.2.1]',
])('"%s" is a valid Host', (value) => {
  expect(isHost(value)).toBe(true);
});

it.each([
  'a b',
  'a/b',
  'a?b',
  'a#b',
  'a@b',
  'a\\b',
  '<script>',
  '"a"',
  'a%zz',
  'm\u00fcnchen',
  '[::1',
  '::1',
  '[::1]x',
  '[zz]',
  '[:::]',
  '[fe80::1%25eth0]',
  'a:99999',
  'a:65536',
  'a:b',
  'a:80:80',
  'http://a',
])('"%s" is not valid', (value) => {
  expect(isHost(value)).toBe(false);
});
