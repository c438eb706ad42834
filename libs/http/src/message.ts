// What Node reads of a request more leniently than HTTP allows: its target, and header fields that were sent twice.
import type { IncomingMessage } from 'node:http';
import { BadRequestError } from './errors';

/** All values of a header field, in order. `headers` has only the first one of some fields, and joins those of others. */
export function valuesOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index]!;
    if (field.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1]!);
    }
  }
  return values;
}

/** A path that no route has. */
const NOWHERE = '/%25/';

/**
 * The target as a path with a query, whichever form it was sent in (RFC 9112, section 3.2). A router would refuse some targets
 * before any hook has run, so one that cannot be decoded becomes a path without a route, in the same folder.
 */
export function originForm(target: string, method: string): string {
  if (!target.startsWith('/')) {
    const [authority] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
    if (authority !== undefined && URL.canParse(authority)) {
      const rest = target.slice(authority.length);
      return originForm(rest.startsWith('/') ? rest : `/${rest}`, method);
    }
    return target === '*' && method === 'OPTIONS' ? '/' : NOWHERE;
  }
  const escape = target.indexOf('%');
  if (escape === -1) {
    return target;
  }
  const [path] = target.split(/[?#]/, 1);
  try {
    decodeURIComponent(path!);
    return target;
  } catch {
    return target.slice(0, target.lastIndexOf('/', escape)) + NOWHERE;
  }
}

/** A name or an address, and perhaps a port (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * Refuses what a server must not interpret, although Node can (RFC 9112, sections 3.2 and 6.1).
 * @throws ApiError 400 `bad_request`
 */
export function assertReadable(message: IncomingMessage): void {
  const hosts = valuesOf(message, 'host');
  const isMissing = hosts.length === 0 && message.httpVersion !== '1.0';
  if (isMissing || hosts.length > 1 || !HOST.test(hosts[0] ?? '')) {
    throw new BadRequestError('Host must be given once, with a name or an address and perhaps a port.');
  }
  const coding = message.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new BadRequestError('Transfer-Encoding must be chunked, and nothing else.');
  }
}
