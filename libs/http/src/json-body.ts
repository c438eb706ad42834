// How the body of a request is read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { MalformedJsonError, UnsupportedMediaTypeError, ValidationFailedError } from './errors';

export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Each body that Fastify has read is parsed as JSON. Its own parsers would take other types and character sets, and refuse an
 * empty body.
 */
export function acceptJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseBody(request, body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** The media types that a request with this method may have. */
export function jsonTypesOf(method: string): string[] {
  return method === 'PATCH' ? ['application/json', 'application/merge-patch+json'] : ['application/json'];
}

/** @returns undefined if the body is empty, whatever its type */
function parseBody({ method, headers }: FastifyRequest, body: Buffer): unknown {
  if (body.length === 0) {
    return undefined;
  }
  const types = jsonTypesOf(method);
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (!isExpected(headers['content-type'], types) || coding !== 'identity') {
    throw new UnsupportedMediaTypeError(types.join(' or '));
  }
  return parseJson(body);
}

function isExpected(contentType = '', expected: string[]): boolean {
  if (expected.includes(contentType)) {
    return true;
  }
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  return expected.includes(type.trim()) && parameters.every(isUtf8Parameter);
}

function isUtf8Parameter(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=').map((part) => part.trim());
  return name !== 'charset' || value.replaceAll('"', '') === 'utf-8';
}

/** No operation has nearly as many. To parse and check thousands would make other requests wait. */
const MAX_FIELDS = 100;
/** `"":1,` */
const SHORTEST_FIELD = 5;

/** Counts the names, which are strings before a colon. What is not JSON is left to the parser. */
function assertFewFields(text: string): void {
  if (text.length < MAX_FIELDS * SHORTEST_FIELD) {
    return;
  }
  let fields = 0;
  let start = text.indexOf('"');
  while (start >= 0) {
    const end = endOfString(text, start);
    start = text.indexOf('"', end + 1);
    fields += /^\s*:/.test(text.slice(end + 1, end + 100)) ? 1 : 0;
    if (fields > MAX_FIELDS) {
      throw new ValidationFailedError(`A body has at most ${MAX_FIELDS} fields.`);
    }
  }
}

/** The index of the quotation mark that ends the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') {
      backslashes += 1;
    }
    if (backslashes % 2 === 0) {
      return end;
    }
  }
  return text.length;
}

// The parser ignores one byte order mark, as RFC 8259 (section 8.1) lets it; the decoder would ignore another.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON text (RFC 8259).
 * @throws ApiError 400 `malformed_json` if it is not JSON in UTF-8, and `validation_failed` for members that could change
 * an object's prototype; no operation has such members.
 */
export function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new MalformedJsonError('it is not UTF-8');
  }
  assertFewFields(text);
  try {
    return secureJson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    if ((error as Error).message.includes('forbidden prototype property')) {
      throw new ValidationFailedError('__proto__ and constructor are not fields of the body.');
    }
    throw new MalformedJsonError('it ends too early or has an unexpected character');
  }
}
