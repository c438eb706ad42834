import {
  errorCatalogue,
  MAX_BODY_BYTES,
  MalformedJsonError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
  type ErrorNote,
  type SharedParts,
  errorWith,
  MAX_PAGE_SIZE,
} from '#libs/http';
import { isNotKept } from '#libs/database';
import { EVENT_SCHEMAS } from '../../modules/events';
import { WEBHOOK_SCHEMAS } from '../../modules/webhooks';
import { HEADERS } from './header-fields';

type Schema = SharedParts['schemas'][string];

/** All header fields of a request together are limited to 16 KiB. */
const TAGS = {
  type: 'string',
  maxLength: 16_384,
  pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$',
} as const;

const PARAMETERS: SharedParts['parameters'] = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes the request safe to retry. For 24 hours, the same key with exactly the same body returns the first response again and changes nothing. Use a new key for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415).',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    example: '5b2e2f0c-2f2b-4f43-8f0e-9a1f6f3f9a01',
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag that the resource must still have. Otherwise the response is 412.',
    schema: TAGS,
    example: '"0SgU8bLYz3tEJ7_M5bIqkw"',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit.',
    schema: TAGS,
    example: '"0SgU8bLYz3tEJ7_M5bIqkw"',
  },
};

const EVERY_ANSWER = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'Cache-Control',
  'Access-Control-Allow-Origin',
];

const EVERY_OPERATION = [
  'bad_request',
  'validation_failed',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'daily_quota_exceeded',
  'api_key_banned',
  'internal_error',
  'service_unavailable',
];

function bodyErrors(types: string): ErrorNote[] {
  return [
    errorWith(MalformedJsonError, 'it ends too early or has an unexpected character'),
    errorWith(PayloadTooLargeError, MAX_BODY_BYTES),
    errorWith(UnsupportedMediaTypeError, types),
  ];
}

/** The schema of Error. Its codes are those of the catalogue, which is complete once every module is loaded. */
function errorSchema(): Schema {
  const codes = errorCatalogue().map(({ code }) => code);
  return {
    type: 'object',
    description: 'The body of every error response. Rely on the code; the message is for people.',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        enum: codes,
        description: 'Machine-readable error code.',
        example: 'pet_not_found',
      },
      message: {
        type: 'string',
        maxLength: 2048,
        pattern: '^[^\\x00-\\x1f]+$',
        description: 'Human-readable description, on one line.',
        example: 'There is no pet 7.',
      },
      status: {
        type: 'integer',
        format: 'int32',
        minimum: 400,
        maximum: 599,
        description: 'The HTTP status code.',
        example: 404,
      },
    },
  };
}

/** The parts that operations share, and those that depend on the method or status. */
export function sharedParts(): SharedParts {
  const body = bodyErrors('application/json');
  return {
    headers: HEADERS,
    parameters: PARAMETERS,
    schemas: {
      Error: errorSchema(),
      ...EVENT_SCHEMAS,
      ...WEBHOOK_SCHEMAS,
      Pets: {
        type: 'array',
        description: 'One page of pets.',
        maxItems: MAX_PAGE_SIZE,
        items: { $ref: '#/components/schemas/Pet' },
      },
    },
    everyAnswer: EVERY_ANSWER,
    headerExamples: {
      429: { 'X-RateLimit-Remaining': 0, RateLimit: '"minute";r=0;t=42, "day";r=940;t=40211' },
    },
    everyOperation: EVERY_OPERATION.map((code) => ({ code })),
    byMethod: {
      post: body,
      put: body,
      patch: bodyErrors('application/json or application/merge-patch+json'),
    },
    bodyTypes: { patch: ['application/merge-patch+json'] },
    responses: {
      401: 'Unauthorized',
      408: 'RequestTimeout',
      413: 'PayloadTooLarge',
      415: 'UnsupportedMediaType',
      429: 'TooManyRequests',
      431: 'HeadersTooLarge',
      500: 'InternalError',
      503: 'ServiceUnavailable',
    },
    // Failures before the body was read are not stored either: the key was not bound to a request yet.
    notKept: (status) => isNotKept(status) || [408, 413, 415, 431].includes(status),
  };
}
