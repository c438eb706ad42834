// This file reads the header fields and the target of a request, and checks rules of HTTP that Node does not check.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { BadRequestError } from './errors';

export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns all values of a header field, because Node's `headers` keeps only the first value of some fields. */
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

/** Removes spaces and tabs at both ends (RFC 9110, section 5.6.3). `trim()` would remove other characters, too. */
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

/**
 * The path that replaces a request target that the router cannot read. No route has this path, so the caller gets a
 * 404.
 */
const UNROUTED_PATH = '/%25/';
/**
 * The path that replaces the target of `OPTIONS *`, because the router accepts only paths and `*` is none. No route has
 * this path, so the request is answered like one for an unknown path.
 */
export const WHOLE_SERVICE = '/%25/*';

/**
 * Returns the target as path and query (RFC 9112, section 3.2). If the path cannot be decoded, returns a path that no
 * route has, so that the caller gets a 404.
 */
export function originForm(request: IncomingMessage, target = request.url!): string {
  if (!target.startsWith('/')) {
    const [root, authority] = /^https?:\/\/([^/?#]+)/i.exec(target) ?? [];
    if (root !== undefined && URL.canParse(root)) {
      // The host in the request target replaces the `Host` header field (RFC 9112, section 3.2.2).
      request.headers.host = authority;
      const rest = target.slice(root.length);
      return originForm(request, rest.startsWith('/') ? rest : `/${rest}`);
    }
    return target === '*' && request.method === 'OPTIONS' ? WHOLE_SERVICE : UNROUTED_PATH;
  }
  try {
    decodeURIComponent(target.split(/[?#]/, 1)[0]!);
    return target;
  } catch {
    return target.slice(0, target.lastIndexOf('/', target.indexOf('%'))) + UNROUTED_PATH;
  }
}

const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * Checks the HTTP version, `Host` and `Transfer-Encoding` more strictly than Node (RFC 9112, sections 2.3, 3.2 and
 * 6.1).
 * @throws ApiError 400 `bad_request`
 */
export function assertReadable(message: IncomingMessage): void {
  const isOld = message.httpVersion === '1.0';
  if (!isOld && message.httpVersion !== '1.1') {
    throw new BadRequestError('The version of HTTP must be 1.0 or 1.1.');
  }
  const hosts = headerValuesOf(message, 'host');
  const isMissing = hosts.length === 0 && !isOld;
  if (isMissing || hosts.length > 1 || !HOST.test(hosts[0] ?? '')) {
    throw new BadRequestError('Host must be sent once, with a name or an IP address and optionally a port.');
  }
  const coding = message.headers['transfer-encoding'];
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) {
    throw new BadRequestError('The only valid Transfer-Encoding is chunked, and only in HTTP/1.1.');
  }
}
