import { AddressPolicy } from '../../../src/modules/webhooks/delivery/address-policy';

const open = new AddressPolicy([]);

/** What leads inside, or nowhere, in every spelling that has been seen in an attack. */
const FORBIDDEN = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'link-local': ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'unspecified and broadcast': ['0.0.0.0', '0.1.2.3', '255.255.255.255', '::'],
  reserved: ['192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1', '2001:db8::1', '3fff::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::10.0.0.1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::a00:1'],
  Teredo: ['2001::7f00:1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  translated: ['::ffff:0:7f00:1'],
  'no address': ['', 'localhost', '0x7f.1', '127.1', '2130706433', '1.2.3.4/8'],
};

describe.each(Object.entries(FORBIDDEN))('%s', (_kind, addresses) => {
  test.each(addresses)('%s is never connected to', (address) => {
    expect(open.allows(address, 'https:')).toBe(false);
    expect(open.allows(address, 'http:')).toBe(false);
  });
});

describe('public addresses', () => {
  test.each(['8.8.8.8', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    '%s: over https, not over http',
    (address) => {
      expect(open.allows(address, 'https:')).toBe(true);
      expect(open.allows(address, 'http:')).toBe(false);
    },
  );
});

describe('allowed networks', () => {
  const policy = new AddressPolicy(['10.20.0.0/16', '192.168.7.9', 'fd00::/8']);

  test.each(['10.20.0.1', '10.20.255.255', '192.168.7.9', 'fd12::1', '::ffff:10.20.3.4'])(
    '%s: over http and https',
    (address) => {
      expect(policy.allows(address, 'http:')).toBe(true);
      expect(policy.allows(address, 'https:')).toBe(true);
    },
  );

  test.each(['10.21.0.1', '192.168.7.10', '127.0.0.1', 'fe80::1'])('%s is not among them', (address) => {
    expect(policy.allows(address, 'https:')).toBe(false);
  });
});

describe('URLs, before any lookup', () => {
  test.each([
    ['http://shop.example/', 'must use https'],
    ['ftp://shop.example/', 'must use https'],
    ['file:///etc/passwd', 'must use https'],
    ['javascript:alert(1)', 'must use https'],
    ['shop.example', 'must be an absolute URL'],
    ['//shop.example', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https://me:secret@shop.example/', 'must not contain a user'],
    ['https://me@127.0.0.1/', 'must not contain a user'],
    ['https://:x@shop.example/', 'must not contain a user'],
    ['https://shop.example:22/', 'has a port'],
    ['https://shop.example:25/', 'has a port'],
    ['https://shop.example:6667/', 'has a port'],
    ...['localhost..', '.localhost', 'shop..example', '.', '127.0.0.1..'].map((host): [string, string] => [
      `https://${host}/`,
      'must have a valid host name',
    ]),
    ['https://localhost/', 'must not lead to'],
    ['https://LOCALHOST./', 'must not lead to'],
    ['https://a.localhost/', 'must not lead to'],
    ['https://127.0.0.1/', 'must not lead to'],
    ['https://127.1/', 'must not lead to'],
    ['https://2130706433/', 'must not lead to'],
    ['https://0x7f000001/', 'must not lead to'],
    ['https://0x7f.0.0.1/', 'must not lead to'],
    ['https://0177.0.0.1/', 'must not lead to'],
    ['https://017700000001/', 'must not lead to'],
    ['https://127.0.0.1./', 'must not lead to'],
    ['https://①②⑦.⓪.⓪.①/', 'must not lead to'],
    ['https://%31%32%37.0.0.1/', 'must not lead to'],
    ['https://[::1]/', 'must not lead to'],
    ['https://[::ffff:127.0.0.1]/', 'must not lead to'],
    ['https://[0:0:0:0:0:ffff:7f00:1]/', 'must not lead to'],
    ['https://[64:ff9b::7f00:1]/', 'must not lead to'],
    ['https://0/', 'must not lead to'],
    ['https:127.0.0.1', 'must not lead to'],
    ['https:\\\\127.0.0.1\\x', 'must not lead to'],
    ['\thttps://127.0.0.1\n', 'must not lead to'],
    ['https://169.254.169.254/latest/meta-data/', 'must not lead to'],
  ])('%s: url %s', (url, objection) => {
    expect(open.objection(url)).toMatch(new RegExp(`^${objection}`));
  });

  test.each([
    'https://shop.example/',
    'https://shop.example:8443/x?y=z',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/',
  ])('%s is allowed', (url) => expect(open.objection(url)).toBeUndefined());
});
