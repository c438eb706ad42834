// This file finds the address of the caller of a request, and the path prefix that a trusted proxy has removed from the
// request's path.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { trimmed } from './message';

declare module 'fastify' {
  interface FastifyRequest {
    /** The path under which a proxy shows the service, such as `/shop`. Empty if the service has the whole host. */
    readonly prefix: string;
  }
}

const ADDRESS_WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** Returns an IP address without its brackets (of IPv6) and its port, or an empty text if `text` is no IP address. */
export function plainAddress(text: string): string {
  const [, ipv6, ipv4] = ADDRESS_WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  return isIP(address) === 0 ? '' : address;
}

/** Returns a function that checks whether an address, with or without a port, is in these addresses and networks. */
export function networkMatcher(networks: readonly string[]): (address?: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = isIP(network) === 6 ? 128 : 32] = network.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  // Cache the results, because comparing an address with all networks is slow and is needed several times per request.
  const known = new LRUCache<string, boolean>({
    max: 1_000,
    memoMethod: (text) => {
      const address = plainAddress(text);
      return address !== '' && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
    },
  });
  return (address = '') => known.memo(address);
}

/**
 * Matches a valid path prefix such as `/shop`. The prefix `//other.example` is refused, because links with this prefix would
 * lead to another host. A colon at the end is refused, because the OpenAPI document has the address of the service, which
 * ends with the prefix. In YAML, an unquoted text that ends with a colon is the key of a mapping, so the document would be
 * invalid.
 */
const PREFIX = /^((?:\/[\w.~!$&'()*+,;=:@%-]+)+)(?<!:)\/?$/;

/**
 * Returns the path prefix that a trusted proxy has removed, which is the last value of `X-Forwarded-Prefix`. Returns an
 * empty text if the proxy has removed no prefix or is not trusted.
 */
export function prefixOf(
  { headers, socket }: IncomingMessage,
  isTrusted: (address?: string) => boolean,
): string {
  const given = headers['x-forwarded-prefix'];
  if (typeof given !== 'string' || !isTrusted(socket.remoteAddress)) {
    return '';
  }
  return PREFIX.exec(trimmed(given.slice(given.lastIndexOf(',') + 1)))?.[1] ?? '';
}
