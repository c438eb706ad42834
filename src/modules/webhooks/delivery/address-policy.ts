// Decides which addresses webhooks may call. The check when a connection is opened is decisive; the check of a URL only reports
// errors earlier.
import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';

const PORTS_BELOW_1024 = [80, 443];
/** The range of all public IPv6 addresses. ipaddr.js also reports addresses outside this range, such as ::7f00:1, as unicast. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');
/** The metadata service of Azure, which must not be called although its address is public. */
const AZURE_METADATA = '168.63.129.16';
/** The `URL` class accepts a text with this white space, and removes the white space. */
const IGNORED_SPACE = /^\s|\s$|[\t\r\n]/;
const EMPTY_LABEL = /^\.|\.\./;
/** `localhost` and the names below it mean this machine, whatever DNS says (RFC 6761, section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/;
const LOOPBACK = ['127.0.0.1', '::1'];

export class AddressPolicy {
  private readonly named: ReturnType<typeof ipaddr.parseCIDR>[];

  /** Webhooks may call these networks (10.0.0.0/8) and addresses even if not public. Over http, no others are allowed. */
  constructor(networks: readonly string[]) {
    this.named = networks.map((text) =>
      ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`),
    );
  }

  allows(address: string, protocol: string): boolean {
    if (isIP(address) === 0) {
      return false;
    }
    // `process` converts an IPv4-mapped IPv6 address to the IPv4 address to which it leads.
    const parsed = ipaddr.process(address);
    const isNamed = ipaddr.subnetMatch(parsed, { named: this.named }, '') === 'named';
    return isNamed || (protocol === 'https:' && isPublic(parsed));
  }

  /** Returns an address as a failure may name it: a client must not learn to which internal address a name leads. */
  shown(address: string): string {
    return isPublic(ipaddr.process(address)) ? address : 'an internal address';
  }

  /** Returns why a URL is not allowed, such as "must use https". Undefined means that it passes all checks without DNS. */
  objection(text: string): string | undefined {
    if (IGNORED_SPACE.test(text)) {
      return 'must not have white space around it';
    }
    if (!URL.canParse(text)) {
      return 'must be an absolute URL, such as https://shop.example/events';
    }
    const url = new URL(text);
    if (url.protocol !== 'https:' && (url.protocol !== 'http:' || this.named.length === 0)) {
      return 'must use https';
    }
    if (url.username !== '' || url.password !== '') {
      return 'must not contain a user or a password';
    }
    // `url.port` is empty if the URL has the default port of its protocol, which is always allowed.
    const port = Number(url.port || 443);
    if (port < 1024 && !PORTS_BELOW_1024.includes(port)) {
      return 'has a port that webhooks may not use: take 443, 80 or one above 1023';
    }
    if (EMPTY_LABEL.test(url.hostname)) {
      return 'must have a valid host name';
    }
    // The `URL` class has already normalized octal, decimal and hexadecimal forms of IPv4 addresses.
    const known = localAddresses(url.hostname) ?? [url.hostname.replace(/^\[(.*)\]$/, '$1')].filter(isIP);
    if (known.length > 0 && !known.some((address) => this.allows(address, url.protocol))) {
      return known.some((address) => this.allows(address, 'https:'))
        ? 'must use https'
        : 'must not lead to a loopback, private or otherwise reserved address';
    }
    return undefined;
  }
}

export function localAddresses(name: string): readonly string[] | undefined {
  return LOCAL_NAME.test(name) ? LOOPBACK : undefined;
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_METADATA) {
    return false;
  }
  return address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
}
