import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';

const open = new AddressPolicy([]);

/** Addresses that lead into an internal network or to no host, in all spellings that are known from attacks. */
const FORBIDDEN = Object.entries({
  loopback: '127.0.0.1 127.255.255.254 ::1',
  private: '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1',
  'link-local': '169.254.1.1 fe80::1 fe80::1%eth0 fec0::1',
  metadata: '169.254.169.254 fd00:ec2::254 100.100.100.200 192.0.0.192 168.63.129.16',
  'carrier-grade NAT': '100.64.0.1 100.127.255.255',
  multicast: '224.0.0.1 239.255.255.255 ff02::1',
  'unspecified and broadcast': '0.0.0.0 0.1.2.3 255.255.255.255 ::',
  reserved: '192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 2001:db8::1 3fff::1',
  'IPv4-mapped': '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe',
  'IPv4-compatible': '::127.0.0.1 ::7f00:1 ::10.0.0.1',
  '6to4': '2002:7f00:1:: 2002:a00:1::1',
  NAT64: '64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::a00:1',
  Teredo: '2001::7f00:1 2001:0:4136:e378:8000:63bf:3fff:fdd2',
  translated: '::ffff:0:7f00:1',
  'no address': ' localhost 0x7f.1 127.1 2130706433 1.2.3.4/8',
});

/** The addresses to which the policy allows connections, each with the scheme. */
function allowed(policy: AddressPolicy, addresses: string): string[] {
  return addresses
    .split(' ')
    .flatMap((address) =>
      ['https:', 'http:']
        .filter((scheme) => policy.allows(address, scheme))
        .map((scheme) => `${scheme}${address}`),
    );
}
const over = (scheme: string, addresses: string) => addresses.split(' ').map((one) => `${scheme}:${one}`);

test.each(FORBIDDEN)('%s: never connected to', (_kind, addresses) => {
  expect(allowed(open, addresses)).toEqual([]);
});

test('public addresses are connected to over https, not over http', () => {
  const addresses = '8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8';
  expect(allowed(open, addresses)).toEqual(over('https', addresses));
});

test('allowed networks are connected to over http and https, and their neighbours are not', () => {
  const policy = new AddressPolicy(['10.20.0.0/16', '192.168.7.9', 'fd00::/8', '::ffff:10.30.0.0/112']);
  const addresses = '10.20.0.1 10.20.255.255 192.168.7.9 fd12::1 ::ffff:10.20.3.4 10.30.0.1 ::ffff:10.30.0.2';
  expect(allowed(policy, addresses).sort()).toEqual(
    [...over('http', addresses), ...over('https', addresses)].sort(),
  );
  expect(allowed(policy, '10.21.0.1 192.168.7.10 127.0.0.1 fe80::1')).toEqual([]);
});

/** URLs that are refused before any lookup, by the reason. */
const OBJECTIONS = Object.entries({
  'must not have white space': '\thttps://shop.example/ https://shop.example/\n \u00a0https://127.0.0.1/',
  'must use https': 'http://shop.example/ ftp://shop.example/ file:///etc/passwd javascript:alert(1)',
  'must be an absolute URL': 'shop.example //shop.example https://',
  'must not contain a user': 'https://me:secret@shop.example/ https://me@127.0.0.1/ https://:x@shop.example/',
  'has a port': 'https://shop.example:22/ https://shop.example:25/ https://shop.example:1023/',
  'must have a valid host name':
    'https://localhost../ https://.localhost/ https://shop..example/ https://./ https://127.0.0.1../',
  'must not lead to': [
    'https://localhost/ https://LOCALHOST./ https://a.localhost/ https://127.0.0.1/ https://127.1/ https://2130706433/',
    'https://0x7f000001/ https://0x7f.0.0.1/ https://0177.0.0.1/ https://017700000001/ https://127.0.0.1./ https://0/',
    'https://①②⑦.⓪.⓪.①/ https://%31%32%37.0.0.1/ https://[::1]/ https://[::ffff:127.0.0.1]/ https:127.0.0.1',
    'https://[0:0:0:0:0:ffff:7f00:1]/ https://[64:ff9b::7f00:1]/ https:\\\\127.0.0.1\\x',
    'https://169.254.169.254/latest/meta-data/',
  ].join(' '),
});

test.each(OBJECTIONS)('the error for a refused URL says that the URL %s', (objection, urls) => {
  for (const url of urls.split(' ')) {
    expect([url, open.problemWith(url)]).toEqual([url, expect.stringMatching(`^${objection}`)]);
  }
});

test.each(['shop.example/', 'shop.example:8443/x?y=z', '8.8.8.8/', '[2606:4700::1]/'])(
  'https://%s is allowed',
  (rest) => expect(open.problemWith(`https://${rest}`)).toBeUndefined(),
);
