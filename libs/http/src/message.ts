// What a request says before it is routed: what Node reads more leniently than HTTP allows, and what proxies report of it.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { BadRequestError } from './errors';

/** All values of a header field, in order. `headers` has only the first one of some fields, and joins those of others. */
export function headerValuesOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index]!;
    if (field.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1]!);
    }
  }
  return values;
}

/**
 * The text without the spaces and tabs around it (RFC 9110, section 5.6.3). `trim` would also remove a U+00A0, which is a
 * character. A regular expression could take quadratic time.
 */
export function trimmed(text: string): string {
  const isSpace = (index: number): boolean => text[index] === ' ' || text[index] === '\t';
  let [start, end] = [0, text.length];
  while (isSpace(start)) {
    start += 1;
  }
  while (end > start && isSpace(end - 1)) {
    end -= 1;
  }
  return text.slice(start, end);
}

/** A path that no route has. */
const NOWHERE = '/%25/';
/** The path of `OPTIONS *`, which asks about the service as a whole. No route has it. */
export const WHOLE_SERVICE = '/%25/*';

/**
 * The target as a path with a query, whichever form it was sent in (RFC 9112, section 3.2). The router would refuse what cannot
 * be decoded before any hook has run, so that becomes a path without a route, in the same folder.
 */
export function originForm(request: IncomingMessage, target = request.url!): string {
  if (!target.startsWith('/')) {
    const [root, authority] = /^https?:\/\/([^/?#]+)/i.exec(target) ?? [];
    if (root !== undefined && URL.canParse(root)) {
      // Instead of the field (section 3.2.2).
      request.headers.host = authority;
      const rest = target.slice(root.length);
      return originForm(request, rest.startsWith('/') ? rest : `/${rest}`);
    }
    return target === '*' && request.method === 'OPTIONS' ? WHOLE_SERVICE : NOWHERE;
  }
  try {
    decodeURIComponent(target.split(/[?#]/, 1)[0]!);
    return target;
  } catch {
    return target.slice(0, target.lastIndexOf('/', target.indexOf('%'))) + NOWHERE;
  }
}

/** A name or an address, and perhaps a port (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** @throws ApiError 400 for what a server must not interpret, although Node can (RFC 9112, sections 2.3, 3.2 and 6.1) */
export function assertReadable(message: IncomingMessage): void {
  const isOld = message.httpVersion === '1.0';
  if (!isOld && message.httpVersion !== '1.1') {
    throw new BadRequestError('The version of HTTP must be 1.0 or 1.1.');
  }
  const hosts = headerValuesOf(message, 'host');
  const isMissing = hosts.length === 0 && !isOld;
  if (isMissing || hosts.length > 1 || !HOST.test(hosts[0] ?? '')) {
    throw new BadRequestError('Host must be given once, with a name or an address and perhaps a port.');
  }
  const coding = message.headers['transfer-encoding'];
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) {
    throw new BadRequestError('Transfer-Encoding must be chunked, and nothing else, in HTTP/1.1.');
  }
}

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
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  return isIP(address) === 0 ? '' : address;
}

const MAX_KNOWN = 1_000;

/** Whether an address, perhaps with a port, belongs to one of these addresses and networks. */
export function networkMatcher(networks: readonly string[]): (address?: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = isIP(network) === 6 ? 128 : 32] = network.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  // The list takes 3 µs, and is asked several times for each request: 4% of a read.
  const known = new LRUCache<string, boolean>({
    max: MAX_KNOWN,
    memoMethod: (text) => {
      const address = plainAddress(text);
      return address !== '' && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
    },
  });
  return (address = '') => known.memo(address);
}

/**
 * Segments of a path, without an end that links would double. A value that is none could lead links to another host. A colon at
 * its end would make the address a key of a mapping in the YAML document.
 */
const PREFIX = /^((?:\/[\w.~!$&'()*+,;=:@%-]+)+)(?<!:)\/?$/;

/** The prefix that a trusted proxy has removed from the path: the last `X-Forwarded-Prefix`. */
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
