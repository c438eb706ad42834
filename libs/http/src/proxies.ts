// What proxies in front of the service report of a request, and which of them are believed.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

declare module 'fastify' {
  interface FastifyRequest {
    /** The path below which the caller sees the service, such as `/shop`; empty if that is the whole host. */
    readonly prefix: string;
  }
}

/** Proxies may add a port and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** The address without brackets and port; empty if it is none. */
export function plainAddress(text: string): string {
  if (isIP(text) !== 0) {
    return text;
  }
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  return isIP(address) === 0 ? '' : address;
}

const MAX_KNOWN = 1_000;

/** Whether an address, perhaps with a port, belongs to one of these addresses and networks. */
export function memberOf(networks: readonly string[]): (address?: string) => boolean {
  const list = new BlockList();
  // The list takes microseconds, and is asked several times for each request.
  const known = new LRUCache<string, boolean>({
    max: MAX_KNOWN,
    memoMethod: (text) => {
      const address = plainAddress(text);
      return address !== '' && list.check(address, familyOf(address));
    },
  });
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (bits === undefined) {
      list.addAddress(address, family);
    } else {
      list.addSubnet(address, Number(bits), family);
    }
  }
  return (address = '') => known.memo(address);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Segments of a path, without an end that links would double. A value that is none could lead links to another host. */
const PREFIX = /^((?:\/[\w.~!$&'()*+,;=:@%-]+)+)\/?$/;

/** The prefix that a trusted proxy has removed from the path: the last `X-Forwarded-Prefix`. */
export function prefixOf(
  { headers, socket }: IncomingMessage,
  isTrusted: (address?: string) => boolean,
): string {
  const given = headers['x-forwarded-prefix'];
  if (typeof given !== 'string' || !isTrusted(socket.remoteAddress)) {
    return '';
  }
  return PREFIX.exec(given.slice(given.lastIndexOf(',') + 1).trim())?.[1] ?? '';
}
