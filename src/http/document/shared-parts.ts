import type { ParameterObject, SchemaObject } from '@nestjs/swagger';
import {
  BadRequestError,
  type ErrorDefinition,
  HeadersTooLargeError,
  InternalError,
  MAX_PAGE_SIZE,
  MalformedJsonError,
  type OperationNotes,
  PayloadTooLargeError,
  RequestTimeoutError,
  ServiceUnavailableError,
  UnsupportedMediaTypeError,
  ValidationFailedError,
  errorCatalogue,
  errorWith,
} from '#libs/http';
import { EVENT_SCHEMAS } from '../../modules/events';
import { isNotKept } from '../../modules/idempotency';
import { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from '../../modules/quotas';
import { WEBHOOK_SCHEMAS } from '../../modules/webhooks';

/** All header fields of a request together are limited to 16 KiB. */
const TAGS = {
  type: 'string',
  maxLength: 16_384,
  pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$',
} as const;

export const PARAMETERS: Record<string, ParameterObject> = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415).',
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

const EVERY_OPERATION = [
  BadRequestError,
  ValidationFailedError,
  RequestTimeoutError,
  HeadersTooLargeError,
  RateLimitExceededError,
  DailyQuotaExceededError,
  ApiKeyBannedError,
  InternalError,
  ServiceUnavailableError,
].map(({ definition }) => definition);

const MERGE_PATCHES = 'application/json or application/merge-patch+json';

/** The errors of an operation with a body. */
function bodyErrors(method: string): ErrorDefinition[] {
  return [
    MalformedJsonError.definition,
    PayloadTooLargeError.definition,
    method === 'patch'
      ? errorWith(UnsupportedMediaTypeError, 'merge_patch', MERGE_PATCHES)
      : UnsupportedMediaTypeError.definition,
  ];
}

/** All errors that an operation can return. */
export function possibleErrors(
  method: string,
  hasBody: boolean,
  { errors, never }: OperationNotes,
): ErrorDefinition[] {
  const all = [...EVERY_OPERATION, ...(hasBody ? bodyErrors(method) : []), ...errors];
  return all.filter(({ code }) => !never.includes(code));
}

/** Statuses that are not stored for an Idempotency-Key. Before the body was read, the key was not bound to a request. */
export function isNotStored(status: number): boolean {
  return isNotKept(status) || [408, 413, 415, 431].includes(status);
}

/** The schema of Error. Its codes are those of the catalogue, which is complete once every module is loaded. */
function errorSchema(): SchemaObject {
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

/** The schemas that no class has. */
export function schemas(): Record<string, SchemaObject> {
  return {
    Error: errorSchema(),
    ...EVENT_SCHEMAS,
    ...WEBHOOK_SCHEMAS,
    Pets: {
      type: 'array',
      description: 'One page of pets.',
      maxItems: MAX_PAGE_SIZE,
      items: { $ref: '#/components/schemas/Pet' },
    },
  };
}
