import type { SharedParts } from '#libs/openapi';
import { isNotKept } from '#libs/idempotency';

const ERROR_SCHEMA = {
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: {
    code: { type: 'string', description: 'Machine-readable error code.', example: 'pet_not_found' },
    message: { type: 'string', description: 'Human-readable description.', example: 'There is no pet 7.' },
    status: { type: 'integer', description: 'The HTTP status code.', example: 404 },
  },
} as const;

function textHeader(description: string, example: string) {
  return { description, schema: { type: 'string' }, example } as const;
}

function integerHeader(description: string, example: number) {
  return { description, schema: { type: 'integer' }, example } as const;
}

const HEADERS: SharedParts['headers'] = {
  'X-RateLimit-Limit': integerHeader(
    'The request limit that applies to the caller: of the window with the least remaining, or the one that refused.',
    60,
  ),
  'X-RateLimit-Remaining': integerHeader(
    'Requests left in the current window, the one of `X-RateLimit-Limit`.',
    59,
  ),
  'X-RateLimit-Reset': integerHeader('Unix timestamp at which the limit resets.', 1795253460),
  'RateLimit-Policy': textHeader(
    'The windows that apply: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: textHeader(
    'What is left of each window: `r` requests for the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).',
    '"minute";r=59;t=60, "day";r=999;t=40211',
  ),
  'X-Request-Id': textHeader(
    "The request's own `X-Request-Id`, or one made for it. Quote it when you report a problem.",
    '0b6e3c1e-6f0c-4a57-9d0e-3f4b8b0d2c11',
  ),
  'Cache-Control': textHeader(
    'An answer may be kept by its caller alone, and has to be validated before it is used again.',
    'private, no-cache',
  ),
  'Retry-After': integerHeader('Seconds to wait before the next request.', 42),
  'WWW-Authenticate': textHeader('How to send a key.', 'Bearer realm="petstore"'),
  ETag: textHeader(
    'Tag of this version of the resource, for `If-Match` and `If-None-Match`.',
    '"0SgU8bLYz3tEJ7_M5bIqkw"',
  ),
  Location: textHeader('Path of the resource that was created.', '/pets/1'),
  Link: textHeader(
    'On a list `rel="next"`: the next page, present when, and only when, more follows. On a deprecated operation `rel="deprecation"` and `rel="successor-version"`.',
    '</pets?cursor=YWZ0ZXI6MjA>; rel="next"',
  ),
  Deprecation: textHeader('Since when the operation is deprecated (RFC 9745).', '@1793491200'),
  Sunset: textHeader('From when the operation may be gone (RFC 8594).', 'Mon, 01 Nov 2027 00:00:00 GMT'),
  'Idempotent-Replayed': {
    description: 'Present when the answer was kept from the first request with this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
};

const PARAMETERS: SharedParts['parameters'] = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes the request safe to retry: within 24 hours the same key and body, byte for byte, answer what the first one answered, and change nothing. A key belongs to the client and to one request. Refusals are kept as well, but for 401, 403, 429, 5xx and what fails before the body is read.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    example: '5b2e2f0c-2f2b-4f43-8f0e-9a1f6f3f9a01',
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag that the resource must still have; otherwise the answer is 412.',
    schema: { type: 'string' },
    example: '"0SgU8bLYz3tEJ7_M5bIqkw"',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'An ETag that the caller holds; if it is still right the answer is 304, which is not counted.',
    schema: { type: 'string' },
    example: '"0SgU8bLYz3tEJ7_M5bIqkw"',
  },
};

const BODY_ERRORS = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

/** What the operations share, and what follows from their method or status. */
export const SHARED_PARTS: SharedParts = {
  headers: HEADERS,
  parameters: PARAMETERS,
  schemas: {
    Error: ERROR_SCHEMA as unknown as SharedParts['schemas'][string],
    Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
  },
  everyAnswer: [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit-Policy',
    'RateLimit',
    'X-Request-Id',
    'Cache-Control',
  ],
  everyOperation: [
    'bad_request',
    'validation_failed',
    'request_timeout',
    'headers_too_large',
    'rate_limit_exceeded',
    'daily_quota_exceeded',
    'api_key_banned',
    'internal_error',
    'service_unavailable',
  ],
  byMethod: { post: BODY_ERRORS, put: BODY_ERRORS, patch: BODY_ERRORS },
  bodyTypes: { patch: ['application/merge-patch+json'] },
  byStatus: {
    401: ['WWW-Authenticate'],
    403: ['Retry-After', 'WWW-Authenticate'],
    429: ['Retry-After'],
    503: ['Retry-After'],
  },
  // What fails before its body could be read is not kept either: the key was not bound to a request yet.
  notKept: (status) => isNotKept(status) || [408, 413, 415, 431].includes(status),
};
