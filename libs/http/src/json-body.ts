import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MalformedJsonError, UnsupportedMediaTypeError } from './errors';
import { headerValuesOf, trimmed } from './message';
import { isRead } from './representation';

export const MAX_BODY_BYTES = 64 * 1024;

/** Bodies are parsed as JSON. Fastify's own parsers would take other types and character sets, and refuse an empty body. */
export function acceptJson(fastify: FastifyInstance): void {
  // Also that of a read, which nobody takes: of chunks, only their content tells whether there is one.
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

/** A name, and a value in double quotes or without (RFC 9110, section 5.6.6). */
const PARAMETER = /;[ \t]*([^ \t;=]*)[ \t]*(?:=[ \t]*("(?:[^"\\]|\\.)*"|[^;]*))?/g;
/** Without quotes. ASCII is UTF-8, too. */
const UTF_8 = ['utf-8', 'utf8', 'us-ascii', ''];

/** @returns undefined if the body is empty, whatever its type */
function parseBody(request: FastifyRequest, body: Buffer): unknown {
  if (body.length === 0) {
    return undefined;
  }
  if (isRead(request)) {
    return body;
  }
  const problem = problemOf(request);
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

function problemOf(request: FastifyRequest): string | null {
  if (!/^(?:identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
    return 'The body must be sent without a Content-Encoding';
  }
  // Node keeps only the first one.
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
    if (name === 'charset' && !UTF_8.includes(trimmed(value).replace(/^(["'])(.*)\1$/, '$2'))) {
      return 'The charset of the body must be UTF-8';
    }
  }
  return null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws ApiError 400 `malformed_json` if it is not JSON in UTF-8 (RFC 8259), perhaps after a byte order mark */
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

/** Only a number with more digits than a double carries, or with an exponent, can become an integer by rounding. */
const MAY_ROUND = /[\d.]{17}|\d[eE]/;
/** Of valid JSON. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/g;

/** A number that is no integer, but would be rounded to one, becomes another that is none, so that validation refuses it. */
function unrounded(token: string, whole?: string, fraction = '', exponent = '0'): string {
  if (whole === undefined || !Number.isInteger(Number(token))) {
    return token;
  }
  const digits = whole.replace('-', '') + fraction;
  const point = digits.length - fraction.length + Number(exponent);
  return /[1-9]/.test(digits.slice(Math.max(point, 0))) ? '0.5' : token;
}
