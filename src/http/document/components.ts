import type { HeaderObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { errorCatalogue } from '#libs/http';
import { FEATURES } from '../../features';

function requestHeader(
  name: string,
  description: string,
  schema: SchemaObject,
  example?: string,
): ParameterObject {
  return { name, in: 'header', required: false, description, schema, ...(example && { example }) };
}

/**
 * Schema of a request header that has no length limit of its own. Only the headers of a request together are limited:
 * if they are too long, the request gets a 431.
 */
const ANY_TEXT: SchemaObject = { type: 'string', pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$' };

export const REQUEST_HEADERS: Record<string, ParameterObject> = {
  'If-Match': requestHeader(
    'If-Match',
    'The ETag that the resource must still have, with its quotes, or `*` for any ETag. If the resource has another ETag, the response is 412.',
    ANY_TEXT,
    '*',
  ),
  'If-None-Match': requestHeader(
    'If-None-Match',
    'An ETag from an earlier response. If the resource still has this ETag, the response is 304 and the request is refunded (in each window, at most as many requests as its limit).',
    ANY_TEXT,
    '"0SgU8bLYz3tEJ7_M5bIqkw"',
  ),
  // No example for `Idempotency-Key`: a tool might send the example with every request, and reusing a key is an error.
  'Idempotency-Key': requestHeader(
    'Idempotency-Key',
    'Makes the request safe to retry: for 24 hours, the same key with the same body returns the first response again and changes nothing. Use a new key of at most 255 ASCII characters, such as a UUID, for each new request.',
    { ...text('^[\\x20-\\x7e]+$', 255), minLength: 1 },
  ),
};

const INT32 = { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 } as const;
const TIME = { type: 'integer', format: 'int64', minimum: 0, maximum: 253_402_300_799 } as const;

function text(pattern: string, maxLength: number): SchemaObject {
  return { type: 'string', pattern, maxLength };
}

function optional(description: string, schema: SchemaObject, example: unknown): HeaderObject {
  return { description, schema, example };
}

function required(...header: Parameters<typeof optional>): HeaderObject {
  return { ...optional(...header), required: true };
}

const OF_EVERY_RESPONSE: Record<string, HeaderObject> = {
  'X-RateLimit-Limit': required(
    'The request limit of one window: the window with the fewest requests left or, on a 429, the exhausted window.',
    INT32,
    60,
  ),
  'X-RateLimit-Remaining': required('Requests left in the window of `X-RateLimit-Limit`.', INT32, 59),
  'X-RateLimit-Reset': required(
    'Unix timestamp at which the window of `X-RateLimit-Limit` resets. During a ban: when the next request will be accepted.',
    TIME,
    1795253460,
  ),
  'RateLimit-Policy': required(
    'The windows that apply: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). Without a valid key there is no daily window.',
    text('^"minute";q=[0-9]+;w=60(, "day";q=[0-9]+;w=86400)?$', 64),
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: required(
    'What is left in each window: `r` requests for the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).',
    text('^"minute";r=[0-9]+;t=[0-9]+(, "day";r=[0-9]+;t=[0-9]+)?$', 64),
    '"minute";r=59;t=60, "day";r=999;t=40211',
  ),
  'X-Request-Id': required(
    'The `X-Request-Id` of the request if it is 1 to 128 characters of `A-Za-z0-9._-`, or a generated id. Quote the id when you report a problem.',
    text('^[A-Za-z0-9._-]+$', 128),
    '0b6e3c1e-6f0c-4a57-9d0e-3f4b8b0d2c11',
  ),
  'Cache-Control': required(
    'Only the caller may cache the response, and must revalidate the response before using it again.',
    { type: 'string', enum: ['private, no-cache'] },
    'private, no-cache',
  ),
  'Access-Control-Allow-Origin': optional(
    'The origins that may read the response. Present if the request has an allowed `Origin`.',
    text('^(\\*|[a-z][a-z0-9+.-]*://[^/ ]+)$', 2048),
    '*',
  ),
};

export const EVERY_RESPONSE = Object.keys(OF_EVERY_RESPONSE);

export const HEADERS: Record<string, HeaderObject> = {
  ...OF_EVERY_RESPONSE,
  'Retry-After': optional(
    'Seconds to wait before the next request. Present on every 429 and 503, on a 403 that reports a ban, and on a 409 `idempotency_in_progress`.',
    { ...INT32, minimum: 1 },
    42,
  ),
  'WWW-Authenticate': optional(
    'How to authenticate, and what is wrong with the key that was sent. Present on every 401, and on a 403 for a missing scope.',
    text('^Bearer realm="petstore"(, [a-z]+="[a-z_]+")*$', 100),
    'Bearer realm="petstore"',
  ),
  Accept: required('The media types that a body may have.', text('^[a-z+/, -]+$', 100), 'application/json'),
  'Accept-Encoding': required(
    'The content codings that a body may have: none (`identity`).',
    text('^identity$', 8),
    'identity',
  ),
  ETag: optional(
    'Version of the resource, for `If-Match` and `If-None-Match`.',
    text('^"[A-Za-z0-9_-]{22}"$', 24),
    '"0SgU8bLYz3tEJ7_M5bIqkw"',
  ),
  Location: required(
    'Path of the resource that was created.',
    text('^(/[^/ ]+)+/[1-9][0-9]*$', 2048),
    '/pets/1',
  ),
  Link: optional(
    'Links to related pages (RFC 8288). `rel="next"`: the next page of a list, absent on the last page; the event feed always has a next page. `rel="deprecation"`: a page about the deprecation of the operation (RFC 9745). `rel="successor-version"`: the operation that replaces the deprecated operation (RFC 5829).',
    text('^<[^<>]+>; rel="[a-z-]+"', 8192),
    '</pets?cursor=YWZ0ZXI6MjA>; rel="next"',
  ),
  Deprecation: optional(
    'When the operation was deprecated (RFC 9745): `@` and a Unix timestamp. Absent if the request could not be read.',
    text('^@[0-9]+$', 20),
    '@1793491200',
  ),
  Sunset: optional(
    'When the operation may be removed (RFC 8594). Absent if the request could not be read.',
    text('^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$', 29),
    'Mon, 01 Nov 2027 00:00:00 GMT',
  ),
  'Idempotent-Replayed': optional(
    'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    { type: 'string', enum: ['true'] },
    'true',
  ),
};

/**
 * Returns schemas that are not generated from a class. Must be called after all modules are loaded, because the schema of an
 * error lists the codes that the modules define when they are loaded.
 */
export function schemas(): Record<string, SchemaObject> {
  const Error: SchemaObject = {
    type: 'object',
    description: 'The body of every error response. Rely on the code; the message is for people.',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        ...text('^[a-z_]+$', 64),
        'x-extensible-enum': errorCatalogue().map(({ code }) => code),
        description: 'Machine-readable error code. New codes may be added.',
        example: 'pet_not_found',
      } as SchemaObject,
      message: {
        ...text('^[^\\x00-\\x1f]+$', 2048),
        description: 'Human-readable description, on one line.',
        example: 'There is no pet 7.',
      },
      status: { ...INT32, minimum: 400, maximum: 599, description: 'The HTTP status code.', example: 404 },
    },
  };
  return { Error, ...Object.fromEntries(FEATURES.flatMap(({ schemas = {} }) => Object.entries(schemas))) };
}
