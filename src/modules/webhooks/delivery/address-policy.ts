// This file decides which addresses webhooks may call. The address of each new connection is checked, because a host
// name may lead to another address later.
import { isIP } from 'node:net';
import * as ipaddr from 'ipaddr.js';
import { networkMatcher } from '#libs/http';

const PORTS_BELOW_1024 = [80, 443];
/** All public IPv6 addresses are in this range. ipaddr.js alone would report some reserved addresses as public. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');
/** Address of an internal service for Azure's virtual machines, which webhooks may not call. */
const AZURE_WIRE_SERVER = '168.63.129.16';
/** Finds white space that the `URL` class would accept and silently remove. */
const IGNORED_SPACE = /^\s|\s$|[\t\r\n]/;
const EMPTY_LABEL = /^\.|\.\./;
/** `localhost` and its subdomains always mean this machine, even if DNS has other addresses (RFC 6761, section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/;
const LOOPBACK = ['127.0.0.1', '::1'];

export class AddressPolicy {
  private readonly isNamed: (address: string) => boolean;

  /**
   * @param networks networks (such as 10.0.0.0/8) and addresses that webhooks may call although these are not public.
   * Webhooks may call only these networks and addresses over http; all other addresses need https.
   */
  constructor(private readonly networks: readonly string[]) {
    this.isNamed = networkMatcher(networks);
  }

  allows(address: string, protocol: string): boolean {
    if (isIP(address) === 0) {
      return false;
    }
    // `process` converts an IPv4-mapped IPv6 address to IPv4, so that the ranges of IPv4 apply to the address.
    return this.isNamed(address) || (protocol === 'https:' && isPublic(ipaddr.process(address)));
  }

  /**
   * Returns the address for an error message. Internal addresses are not shown, so that a client cannot explore the network of
   * the service.
   */
  shownAddress(address: string): string {
    return isPublic(ipaddr.process(address)) ? address : 'an internal address';
  }

  /** Returns what is wrong with a URL, such as "must use https", or undefined if nothing is wrong. */
  problemWith(text: string): string | undefined {
    if (IGNORED_SPACE.test(text)) {
      return 'must not have white space around it';
    }
    if (!URL.canParse(text)) {
      return 'must be an absolute URL, such as https://shop.example/events';
    }
    const url = new URL(text);
    if (url.protocol !== 'https:' && (url.protocol !== 'http:' || this.networks.length === 0)) {
      return 'must use https';
    }
    if (url.username !== '' || url.password !== '') {
      return 'must not contain a user or a password';
    }
    // `url.port` is empty for the default port. 443 stands for both 80 and 443, because both are allowed.
    const port = Number(url.port || 443);
    if (port < 1024 && !PORTS_BELOW_1024.includes(port)) {
      return 'has a port that webhooks may not use: take 443, 80 or one above 1023';
    }
    if (EMPTY_LABEL.test(url.hostname)) {
      return 'must have a valid host name';
    }
    // Other spellings of an IPv4 address, such as octal, need no check, because the `URL` class has converted them.
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
  if (address.range() !== 'unicast' || address.toString() === AZURE_WIRE_SERVER) {
    return false;
  }
  return address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
}
