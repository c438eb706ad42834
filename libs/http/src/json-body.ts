import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MalformedJsonError, UnsupportedMediaTypeError } from './errors';
import { headerValuesOf, isRead, trimmed } from './message';

export const MAX_BODY_BYTES = 64 * 1024;
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Makes Fastify parse every body as JSON in UTF-8. Fastify's own parsers are removed, because they accept other media
 * types and refuse an empty body.
 */
export function acceptJson(fastify: FastifyInstance): void {
  // Read the bodies of GET and HEAD requests, too, because a GET or HEAD request with a body that is not empty is
  // refused.
  for (const method of ['GET', 'HEAD']) {
    fastify.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  }
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseBody(request, body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A parameter of a media type, such as `; charset=utf-8`; the value may be quoted (RFC 9110, section 5.6.6). */
const PARAMETER = /;[ \t]*([^ \t;=]*)[ \t]*(?:=[ \t]*("(?:[^"\\]|\\.)*"|[^;]*))?/g;
const UTF_8_CHARSETS = ['utf-8', 'utf8', 'us-ascii', ''];

function parseBody(request: FastifyRequest, body: Buffer): unknown {
  if (body.length === 0) {
    return undefined;
  }
  if (isRead(request)) {
    return body;
  }
  const problem = contentHeaderProblem(request);
  if (problem !== null) {
    throw new UnsupportedMediaTypeError(`${problem}.`, typesOf(request));
  }
  return parseJson(body);
}

const JSON_TYPES = ['application/json'];
const PATCH_TYPES = [...JSON_TYPES, 'application/merge-patch+json'];

function typesOf({ method }: FastifyRequest): string[] {
  return method === 'PATCH' ? PATCH_TYPES : JSON_TYPES;
}

function contentHeaderProblem(request: FastifyRequest): string | null {
  if (!/^(?:identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
    return 'The body must be sent without a Content-Encoding';
  }
  // Read the raw header fields, because Node keeps only the first Content-Type of a request.
  const [given = '', ...others] = headerValuesOf(request.raw, 'content-type');
  if (others.some((other) => other !== given)) {
    return 'Content-Type must be given once';
  }
  const [types, text] = [typesOf(request), given.toLowerCase()];
  if (types.includes(text)) {
    return null;
  }
  if (!types.includes(trimmed(text.split(';', 1)[0]!))) {
    return `Content-Type must be ${types.join(' or ')}`;
  }
  for (const [, name, value = ''] of text.matchAll(PARAMETER)) {
    if (name === 'charset' && !UTF_8_CHARSETS.includes(trimmed(value).replace(/^(["'])(.*)\1$/, '$2'))) {
      return 'The charset of the body must be UTF-8';
    }
  }
  return null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON in UTF-8 (RFC 8259), with or without a byte order mark. @throws ApiError 400 `malformed_json` */
export function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new MalformedJsonError('it is not UTF-8');
  }
  try {
    const value: unknown = JSON.parse(text);
    return MAY_ROUND.test(text) ? JSON.parse(text.replace(STRING_OR_NUMBER, unrounded)) : value;
  } catch {
    throw new MalformedJsonError('it ends too early or has an unexpected character');
  }
}

/**
 * Matches numbers whose fraction `JSON.parse` may round away, so that an integer remains. Such numbers have many digits
 * or an exponent.
 */
const MAY_ROUND = /[\d.]{17}|\d[eE]/;
/** Matches the strings and numbers in valid JSON. The groups are a number's whole part, fraction and exponent. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/g;

/**
 * Replaces a number that `JSON.parse` would round to an integer, such as 1.00000000000000001, by 0.5. The number
 * fields of this library allow only integers. So the validation of the field refuses 0.5, as it refuses every fraction, and
 * the caller learns of the mistake. Returns any other token unchanged.
 */
function unrounded(token: string, whole?: string, fraction = '', exponent = '0'): string {
  if (whole === undefined || !Number.isInteger(Number(token))) {
    return token;
  }
  const digits = whole.replace('-', '') + fraction;
  const point = digits.length - fraction.length + Number(exponent);
  return /[1-9]/.test(digits.slice(Math.max(point, 0))) ? '0.5' : token;
}
