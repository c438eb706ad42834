// Which addresses webhooks may call. The check on the connected address is decisive; checking the URL only gives early errors.
import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';

/** Other ports below 1024 belong to other services. */
const PORTS_BELOW_1024 = [80, 443];
/** All publicly routed addresses. ipaddr.js reports others, such as ::7f00:1, as unicast too. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');
/** A public address at which Azure serves each machine its own metadata. */
const METADATA = '168.63.129.16';
/** URL ignores it. */
const IGNORED_SPACE = /^\s|\s$|[\t\r\n]/;
/** URL accepts it, DNS does not. */
const EMPTY_LABEL = /^\.|\.\./;
/** Names that mean this machine, whatever DNS says (RFC 6761, section 6.3), and where they lead. */
const LOCAL_NAME = /(^|\.)localhost\.?$/;
const LOOPBACK = ['127.0.0.1', '::1'];

export class AddressPolicy {
  private readonly named: ReturnType<typeof ipaddr.parseCIDR>[];

  /** @param networks networks (10.0.0.0/8) and addresses that are allowed although not public, also over http */
  constructor(networks: readonly string[]) {
    this.named = networks.map((text) =>
      ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`),
    );
  }

  /** `http` is allowed only to the configured networks. */
  allows(address: string, protocol: string): boolean {
    if (isIP(address) === 0) {
      return false;
    }
    // An IPv4-mapped IPv6 address leads to the IPv4 address.
    const parsed = ipaddr.process(address);
    const isNamed = ipaddr.subnetMatch(parsed, { named: this.named }, '') === 'named';
    return isNamed || (protocol === 'https:' && isPublic(parsed));
  }

  /** Why a URL is not allowed, to follow "url"; undefined if it passes all checks that need no DNS lookup. */
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
    // The default port of the protocol is not in the URL.
    const port = Number(url.port || 443);
    if (port < 1024 && !PORTS_BELOW_1024.includes(port)) {
      return 'has a port that webhooks may not use: take 443, 80 or one above 1023';
    }
    if (EMPTY_LABEL.test(url.hostname)) {
      return 'must have a valid host name';
    }
    // URL has already normalized octal, decimal and hexadecimal forms of addresses.
    const known = localAddresses(url.hostname) ?? [url.hostname.replace(/^\[(.*)\]$/, '$1')].filter(isIP);
    if (known.length > 0 && !known.some((address) => this.allows(address, url.protocol))) {
      return known.some((address) => this.allows(address, 'https:'))
        ? 'must use https'
        : 'must not lead to a loopback, private or otherwise reserved address';
    }
    return undefined;
  }
}

/** The addresses of `localhost` and names below it; undefined for others. */
export function localAddresses(name: string): readonly string[] | undefined {
  return LOCAL_NAME.test(name) ? LOOPBACK : undefined;
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === METADATA) {
    return false;
  }
  return address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
}
