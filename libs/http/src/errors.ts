export interface ErrorBody {
  code: string;
  message: string;
  status: number;
}

/**
 * An error that the caller gets as a response. The error has no stack trace, because collecting a stack trace would be
 * slow.
 */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}

export interface ErrorDefinition {
  readonly code: string;
  readonly status: number;
  readonly when: string;
  /** If set, the error is documented for all operations, or for all operations other than GET (`all writes`). */
  readonly commonTo?: 'all operations' | 'all writes';
  readonly example: string;
  readonly exampleHeaders: Readonly<Record<string, string>>;
}

interface ErrorTemplate<Details extends unknown[]> extends Omit<
  ErrorDefinition,
  'example' | 'exampleHeaders'
> {
  message: string | ((...details: Details) => string);
  headers?: (...details: Details) => Record<string, string>;
  example?: Details;
}

// oxlint-disable-next-line typescript/no-explicit-any -- classes made by `defineError` have different constructor arguments
export type AnyDefinedError = ReturnType<typeof defineError<any[]>>;

const catalogue = new Map<string, ErrorDefinition>();

/**
 * Creates an error class and adds its code to the error catalogue.
 * @throws Error if the code is already in the catalogue
 */
export function defineError<Details extends unknown[] = []>({
  message,
  headers,
  example = [] as unknown[] as Details,
  ...defined
}: ErrorTemplate<Details>) {
  const { code, status } = defined;
  const messageOf = (details: Details) => (typeof message === 'string' ? message : message(...details));
  if (catalogue.has(code)) {
    throw new Error(`The error code ${code} is defined twice.`);
  }
  const exampleHeaders = headers?.(...example) ?? {};
  const definition: ErrorDefinition = { ...defined, example: messageOf(example), exampleHeaders };
  catalogue.set(code, definition);
  return class extends ApiError {
    static readonly definition = definition;

    constructor(...details: Details) {
      super(code, status, messageOf(details), headers?.(...details));
    }
  };
}

export function errorCatalogue(): ErrorDefinition[] {
  return [...catalogue.values()].sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
}

export const BadRequestError = defineError({
  code: 'bad_request',
  status: 400,
  commonTo: 'all operations',
  when: 'The request is not valid HTTP, or a header has an invalid value.',
  message: (what: string) => what,
  example: ['The request is not valid HTTP.'],
});

export const MalformedJsonError = defineError({
  code: 'malformed_json',
  status: 400,
  commonTo: 'all writes',
  when: 'The body is not valid JSON in UTF-8.',
  message: (why: string) => `The body is not valid JSON: ${why}.`,
  example: ['it ends too early or has an unexpected character'],
});

export const ValidationFailedError = defineError({
  code: 'validation_failed',
  status: 400,
  commonTo: 'all operations',
  when: 'A value in the request is invalid. The message names it and says what is valid.',
  message: (problems: string) => problems,
  example: ['The operation has no query parameter "colour".'],
});

export const RouteNotFoundError = defineError({
  code: 'route_not_found',
  status: 404,
  when: 'No operation has this path.',
  message: (similar?: string) =>
    `No operation has this path. ${similar ? `Did you mean ${similar}?` : '/openapi.json lists all operations.'} Paths are case-sensitive and have no trailing slash.`,
});

export const MethodNotAllowedError = defineError({
  code: 'method_not_allowed',
  status: 405,
  when: 'The path does not support this method. `Allow` lists the methods it supports.',
  message: (allow: string) => `This path does not support this method. It supports: ${allow}.`,
  headers: (allow: string) => ({ Allow: allow }),
  example: ['GET, HEAD, POST'],
});

export const RequestTimeoutError = defineError({
  code: 'request_timeout',
  status: 408,
  commonTo: 'all operations',
  when: 'The request did not arrive within 30 seconds.',
  message: 'The request took too long to arrive. Send it again.',
});

export const PreconditionFailedError = defineError({
  code: 'precondition_failed',
  status: 412,
  commonTo: 'all operations',
  when: "The resource's ETag is not in `If-Match`, or is in a change's `If-None-Match`. Paths with no ETag accept only `If-Match: *`.",
  message: (why: string) => why,
  example: ['The resource has none of the ETags in If-Match. Get it again and send its new ETag.'],
});

export const PayloadTooLargeError = defineError({
  code: 'payload_too_large',
  status: 413,
  commonTo: 'all operations',
  when: 'The body is larger than 64 KiB.',
  message: 'The body is larger than 65536 bytes.',
});

export const UnsupportedMediaTypeError = defineError({
  code: 'unsupported_media_type',
  status: 415,
  commonTo: 'all writes',
  when: 'The operation does not accept this media type, charset or content encoding.',
  message: (problem: string, _types: readonly string[]) => problem,
  headers: (_problem, types) => ({
    Accept: types.join(', '),
    'Accept-Encoding': 'identity',
  }),
  example: ['The Content-Type must be application/json.', ['application/json']],
});

export const HeadersTooLargeError = defineError({
  code: 'headers_too_large',
  status: 431,
  commonTo: 'all operations',
  when: 'The headers are larger than 16 KiB in total.',
  message: 'The headers of the request are larger than 16 KiB in total.',
});

export const InternalError = defineError({
  code: 'internal_error',
  status: 500,
  commonTo: 'all operations',
  when: 'The service failed. `X-Request-Id` identifies the entry in its log.',
  message: 'Something went wrong on our side. Quote the X-Request-Id when you report it.',
});

/**
 * The service is unavailable until the operator acts. The message, which is for the operator, is logged. The caller gets
 * `ServiceUnavailableError` instead, without this message.
 */
export class OperatorActionNeededError extends Error {}

export const ServiceUnavailableError = defineError({
  code: 'service_unavailable',
  status: 503,
  commonTo: 'all operations',
  when: 'The service is temporarily unavailable. Try again after `Retry-After` seconds.',
  message: 'The service cannot answer right now. Try again after Retry-After seconds.',
  headers: () => ({ 'Retry-After': '5' }),
});
