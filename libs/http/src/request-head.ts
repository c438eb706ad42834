import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { type ApiError, BadRequestError, HeadersTooLargeError } from './errors';

/** Node's own limit ignores the colons and line ends, so 10,000 fields could take 40 KB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** The colon and the line end of a field. */
const FIELD_OVERHEAD = 3;
const MAX_PORT = 65_535;

/** Finds defects that Node accepts, or would answer with an empty 400 (which is why `requireHostHeader` is off). */
export function headDefect(request: IncomingMessage): ApiError | undefined {
  const { httpVersionMajor, httpVersionMinor, rawHeaders } = request;
  if (httpVersionMajor !== 1) {
    return new BadRequestError('The request must be HTTP/1.1.');
  }
  const hosts: string[] = [];
  let bytes = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    bytes += name.length + value.length + FIELD_OVERHEAD;
    if (name.length === 4 && name.toLowerCase() === 'host') {
      hosts.push(value);
    }
  }
  if (bytes > MAX_HEADER_BYTES) {
    return new HeadersTooLargeError();
  }
  if (hosts.length > 1 || (hosts.length === 0 && httpVersionMinor > 0)) {
    return new BadRequestError('An HTTP/1.1 request needs one Host header field.');
  }
  return hosts.every(isHost)
    ? undefined
    : new BadRequestError('Host must be a host name or an IP address, with or without a port.');
}

/** An optional host (RFC 3986, section 3.2.2) and an optional port. The only literals in brackets are IPv6 addresses. */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(\d*))?$/i;

/** Whether this may be the value of a Host field (RFC 9112, section 3.2). */
export function isHost(value: string): boolean {
  const [match, literal, port] = HOST.exec(value) ?? [];
  return match !== undefined && (literal === undefined || isIPv6(literal)) && Number(port ?? 0) <= MAX_PORT;
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` if it is 1 to 128 of `A-Za-z0-9._-`, otherwise a new random one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}

/**
 * Repairs targets that the router would mishandle. If the path is not valid percent-encoded UTF-8, its percent signs
 * are escaped, so that it fails inside the pipeline as an unknown path or a bad parameter, not in the router. An
 * asterisk gets a slash, because the router would treat it as the root.
 */
export function repairRequestTarget(target: string): string {
  if (target === '*') {
    return '/*';
  }
  if (!target.includes('%')) {
    return target;
  }
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return path.replaceAll('%', '%25') + target.slice(path.length);
  }
}
