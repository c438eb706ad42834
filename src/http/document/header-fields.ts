import type { SharedParts } from '#libs/openapi';

const INT32 = { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 } as const;
/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799;

function textHeader(description: string, example: string, pattern: string, maxLength: number) {
  return { description, schema: { type: 'string', pattern, maxLength }, example } as const;
}

/** Header fields of answers, by name. */
export const HEADERS: SharedParts['headers'] = {
  'X-RateLimit-Limit': {
    description:
      'The request limit that applies to the caller: of the window with the least remaining, or the one that refused.',
    schema: INT32,
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current window, the one of `X-RateLimit-Limit`.',
    schema: INT32,
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp at which the limit resets, that of `X-RateLimit-Limit`.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: LAST_SECOND },
    example: 1795253460,
  },
  'RateLimit-Policy': textHeader(
    'The windows that apply: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). An address without a valid key has no day.',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
    '^"minute";q=[0-9]+;w=60(, "day";q=[0-9]+;w=86400)?$',
    64,
  ),
  RateLimit: textHeader(
    'What is left of each window: `r` requests for the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).',
    '"minute";r=59;t=60, "day";r=999;t=40211',
    '^"minute";r=[0-9]+;t=[0-9]+(, "day";r=[0-9]+;t=[0-9]+)?$',
    64,
  ),
  'X-Request-Id': textHeader(
    "The request's own `X-Request-Id` when it is 1 to 128 of `A-Za-z0-9._-`, or one made for it. Quote it when you report a problem.",
    '0b6e3c1e-6f0c-4a57-9d0e-3f4b8b0d2c11',
    '^[A-Za-z0-9._-]+$',
    128,
  ),
  'Cache-Control': {
    description:
      'An answer may be kept by its caller alone, and has to be validated before it is used again.',
    schema: { type: 'string', enum: ['private, no-cache'] },
    example: 'private, no-cache',
  },
  'Access-Control-Allow-Origin': textHeader(
    'Which pages may read the answer. Sent to a request with an `Origin` whose pages may.',
    '*',
    '^(\\*|[a-z][a-z0-9+.-]*://[^/ ]+)$',
    2048,
  ),
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { ...INT32, minimum: 1 },
    example: 42,
  },
  'WWW-Authenticate': textHeader(
    'How to send a key, and what is wrong with the one that was sent.',
    'Bearer realm="petstore"',
    '^Bearer realm="petstore"(, [a-z]+="[a-z_]+")*$',
    100,
  ),
  ETag: textHeader(
    'Tag of this version of the resource, for `If-Match` and `If-None-Match`.',
    '"0SgU8bLYz3tEJ7_M5bIqkw"',
    '^"[A-Za-z0-9_-]{22}"$',
    24,
  ),
  Location: textHeader('Path of the resource that was created.', '/pets/1', '^(/[a-z]+)+/[1-9][0-9]*$', 64),
  Link: textHeader(
    'The next page, as `rel="next"` (RFC 8288): present when, and only when, more follows.',
    '</pets?cursor=YWZ0ZXI6MjA>; rel="next"',
    '^<[^<>]+>; rel="[a-z-]+"',
    8192,
  ),
  Deprecation: textHeader(
    'Since when the operation is deprecated (RFC 9745): `@` and a unix timestamp.',
    '@1793491200',
    '^@[0-9]+$',
    20,
  ),
  Sunset: textHeader(
    'From when the operation may be gone (RFC 8594).',
    'Mon, 01 Nov 2027 00:00:00 GMT',
    '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$',
    29,
  ),
  'Idempotent-Replayed': {
    description: 'Present when the answer was kept from the first request with this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
};
