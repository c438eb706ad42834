import { defineError } from '#libs/errors';

export const BadRequestError = defineError({
  code: 'bad_request',
  status: 400,
  when: 'The request is not HTTP as RFC 9112 has it, or a header field has a value it cannot have.',
  message: (what: string) => what,
  example: ['The request is not valid HTTP.'],
});

export const MalformedJsonError = defineError({
  code: 'malformed_json',
  status: 400,
  when: 'The body is not JSON in UTF-8.',
  message: (why: string) => `The body is not valid JSON: ${why}.`,
  example: ['it ends too early or has an unexpected character'],
});

export const ValidationFailedError = defineError({
  code: 'validation_failed',
  status: 400,
  when: 'A value in the path, the query, a header field or the body is not one that the operation takes. The message names it and says what would be right.',
  message: (problems: string) => problems,
  example: ['limit must be an integer from 1 to 100, given once.'],
});

export const RouteNotFoundError = defineError({
  code: 'route_not_found',
  status: 404,
  when: 'No operation has this path.',
  message: () => 'There is nothing at this path. The operations are listed in /openapi.json.',
  example: [],
});

export const MethodNotAllowedError = defineError({
  code: 'method_not_allowed',
  status: 405,
  when: 'The path exists but not with this method. `Allow` lists the methods it has.',
  message: (allow: string) =>
    allow === '' ? 'No path takes this method.' : `This path does not take this method. It takes: ${allow}.`,
  headers: (allow: string) => ({ Allow: allow }),
  example: ['GET, HEAD, POST'],
});

export const RequestTimeoutError = defineError({
  code: 'request_timeout',
  status: 408,
  when: 'The request did not arrive completely in time.',
  message: () => 'The request took too long to arrive. Send it again, all at once.',
  example: [],
});

export const PreconditionFailedError = defineError({
  code: 'precondition_failed',
  status: 412,
  when: 'The resource is no longer the one whose ETag was sent in `If-Match`.',
  message: () => 'The resource has changed since. Get it again and use its new ETag in If-Match.',
  example: [],
});

export const PayloadTooLargeError = defineError({
  code: 'payload_too_large',
  status: 413,
  when: 'The body is larger than 64 KiB.',
  message: (maxBytes: number) => `The body is larger than ${maxBytes} bytes.`,
  example: [65_536],
});

export const UnsupportedMediaTypeError = defineError({
  code: 'unsupported_media_type',
  status: 415,
  when: 'The body is of a type, a character set or a content coding that the operation does not take.',
  message: (takes: string) => `The body must be sent as ${takes}, in UTF-8 and without a content coding.`,
  example: ['application/json'],
});

export const HeadersTooLargeError = defineError({
  code: 'headers_too_large',
  status: 431,
  when: 'The header fields together are larger than 16 KiB.',
  message: () => 'The header fields of the request are larger than 16 KiB together.',
  example: [],
});

export const InternalError = defineError({
  code: 'internal_error',
  status: 500,
  when: 'The service failed. It was logged; `X-Request-Id` names the log entry.',
  message: () => 'Something went wrong on our side. Quote the X-Request-Id when you report it.',
  example: [],
});

export const ServiceUnavailableError = defineError({
  code: 'service_unavailable',
  status: 503,
  when: 'Something that the service depends on is away. Try again after `Retry-After` seconds.',
  message: () => 'The service cannot answer right now. Try again after Retry-After seconds.',
  headers: () => ({ 'Retry-After': '5' }),
  example: [],
});
