// Which addresses webhooks may call. The check on the connected address is decisive; checking the URL only gives early errors.
import { type LookupAddress, promises as dns } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type IPv4, type IPv6, parse, parseCIDR } from 'ipaddr.js';

/** Other ports below 1024 belong to other services. */
const PORTS_BELOW_1024 = [80, 443];
/** All publicly routed addresses. ipaddr.js reports others, such as ::7f00:1, as unicast too. */
const PUBLIC_IPV6 = parseCIDR('2000::/3');
/** A public address at which Azure serves each machine its own metadata. */
const METADATA = '168.63.129.16';
/** URL ignores it. */
const IGNORED_SPACE = /^\s|\s$|[\t\r\n]/;
/** URL accepts it, DNS does not. */
const EMPTY_LABEL = /^\.|\.\./;
const LOCAL_NAME = /(^|\.)localhost$/;

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;
/** Addresses of each family that one attempt tries. */
const MAX_ADDRESSES = 2;
/** How long the second family may answer after the first. */
const OTHER_FAMILY_MS = 50;

type Network = ReturnType<typeof parseCIDR>;

export class AddressPolicy {
  private readonly networks: Network[];

  /** @param networks networks (10.0.0.0/8) and addresses that are allowed although not public, also over http */
  constructor(networks: readonly string[]) {
    this.networks = networks.map(networkOf);
  }

  /** Whether this address may be connected to. `http` is allowed only to the configured networks. */
  allows(address: string, protocol: string): boolean {
    if (isIP(address) === 0) {
      return false;
    }
    const parsed = unmapped(address);
    return this.isNamed(parsed) || (protocol === 'https:' && isPublic(parsed));
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
    if (url.protocol !== 'https:' && (url.protocol !== 'http:' || this.networks.length === 0)) {
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
    const literal = literalOf(url);
    if (literal !== undefined && !this.allows(literal, url.protocol)) {
      return this.allows(literal, 'https:')
        ? 'must use https'
        : 'must not lead to a loopback, private or otherwise reserved address';
    }
    return undefined;
  }

  private isNamed(address: IPv4 | IPv6): boolean {
    return this.networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  }
}

/** The IP address in a URL, if it has one. URL has already normalized octal, decimal and hexadecimal forms. */
export function literalOf({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (LOCAL_NAME.test(host)) {
    return '127.0.0.1';
  }
  return isIP(host) === 0 ? undefined : host;
}

/** An IPv4-mapped IPv6 address leads to the IPv4 address. */
function unmapped(text: string): IPv4 | IPv6 {
  const address = parse(text);
  return 'isIPv4MappedAddress' in address && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

function networkOf(text: string): Network {
  return parseCIDR(text.includes('/') ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`);
}

function isPublic(address: IPv4 | IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === METADATA) {
    return false;
  }
  return address.kind() === 'ipv4' || address.match(PUBLIC_IPV6);
}

/** The addresses of a name, of one family. */
export type Resolve = (name: string, family: 4 | 6) => Promise<string[]>;

/**
 * Queries the name servers directly. The operating system's lookup blocks one of the process's four threads, and a few
 * names whose servers never answer would block them all.
 */
export function resolveByDns(
  resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES }),
): Resolve {
  return (name, family) => (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
}

/**
 * The lookup for a new connection, which connects only to the addresses it returns. This prevents DNS rebinding. Once one
 * family has an address, the other has a moment to answer (RFC 8305, section 3).
 */
export function checkedLookup(resolve: Resolve, policy: AddressPolicy, protocol: string): LookupFunction {
  const allowed = async (name: string, family: 4 | 6): Promise<LookupAddress[]> => {
    const all = await resolve(name, family);
    const found = all.filter((address) => policy.allows(address, protocol));
    if (found.length === 0) {
      // A name can be an alias of one without addresses; the query then succeeds with none.
      throw Object.assign(new Error(), { code: all.length === 0 ? 'ENODATA' : 'EFORBIDDEN' });
    }
    return found.slice(0, MAX_ADDRESSES).map((address) => ({ address, family }));
  };
  const lookUp = async (name: string): Promise<LookupAddress[]> => {
    const found: LookupAddress[] = [];
    const families = ([4, 6] as const).map(async (family) => {
      found.push(...(await allowed(name, family)));
    });
    await Promise.any(families);
    await Promise.race([Promise.allSettled(families), pause(OTHER_FAMILY_MS)]);
    return [...found];
  };
  return (name, _options, callback) => {
    lookUp(name).then(
      (found) => callback(null, found),
      (failure: AggregateError) => {
        const errors = failure.errors as NodeJS.ErrnoException[];
        callback(errors.find(({ code }) => code === 'EFORBIDDEN') ?? errors[0]!, []);
      },
    );
  };
}
