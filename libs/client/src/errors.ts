import type { ErrorBody } from './generated/types.ts';

/**
 * An error code of the service or of the SDK. The SDK's codes are `no_answer` (no connection, or a timeout),
 * `not_modified` (304) and `unexpected_answer` (a redirect, or a response of a proxy).
 */
export type PetStoreErrorCode = ErrorBody['code'] | 'no_answer' | 'not_modified' | 'unexpected_answer';

/**
 * A failed call. `body` is the JSON body of the response. `cause` is NoAnswer, or the error with which the body could not
 * be parsed.
 */
type FailedCall = Pick<PetStoreError, 'operation' | 'idempotencyKey' | 'response'> & {
  body?: unknown;
  cause?: unknown;
};

/** A call has failed. Programs should check `code`; `message` is for people. */
export class PetStoreError extends Error {
  override readonly name = 'PetStoreError';
  /** The method and the path in the OpenAPI document, for example `GET /pets/{petId}`. */
  readonly operation: string;
  /**
   * The key of a POST. If the same body is sent with this key again, the service executes the POST only once. Undefined
   * for other methods.
   */
  readonly idempotencyKey: string | undefined;
  /** The response, whose body has already been read. Undefined if there was no response. */
  readonly response?: Response | undefined;
  readonly code: PetStoreErrorCode;
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number;
  /** Seconds to wait before the next attempt. Undefined if the response had no `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** The id of the request in the service's log (`X-Request-Id`). */
  readonly requestId: string | undefined;
  /**
   * The cursor from which to continue the event feed after the error `events_lost`. The error means that the service has
   * lost events that this program has already read, for example because a backup was restored.
   */
  readonly next: string | undefined;

  constructor({ operation, idempotencyKey, response, body, cause }: FailedCall) {
    const { code, message } = (body ?? {}) as Partial<ErrorBody>;
    super(message ?? `${operation}: ${problemOf(response, cause)}.`, {
      cause: cause instanceof NoAnswer ? cause.cause : cause,
    });
    this.operation = operation;
    this.idempotencyKey = idempotencyKey;
    this.response = response;
    const unanswered = cause instanceof NoAnswer ? 'no_answer' : 'unexpected_answer';
    this.status = response?.status ?? 0;
    this.code = code ?? (this.status === 304 ? 'not_modified' : unanswered);
    this.retryAfterSeconds = response && retryAfterOf(response.headers);
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
    this.next = response && nextCursor(response.headers);
    Object.defineProperty(this, 'response', { enumerable: false });
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { name: _name, ...fields } = this;
    return `${this.stack}\n    ${JSON.stringify(fields)}`;
  }
}

export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super(`no answer (${reasonOf(cause as Error)})`, { cause });
  }
}

function problemOf(response: Response | undefined, cause: unknown): string {
  if (response === undefined || cause !== undefined) {
    return cause instanceof NoAnswer
      ? cause.message
      : `the response is not JSON (${(cause as Error).message})`;
  }
  const { status, type, headers } = response;
  if (status === 304) return 'the resource has not changed (304)';
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return `baseUrl leads to a redirect${headers.has('location') ? ` to ${headers.get('location')}` : ''}, which is not followed`;
  }
  return `the response ${status} (${headers.get('content-type') ?? 'no Content-Type'}) is not from the Pet Store service but from something else, such as a proxy`;
}

function reasonOf({ message, cause }: Error): string {
  const { message: detail, code } = (cause ?? {}) as { message?: string; code?: string };
  return detail || code || message;
}

const MAX_RETRY_AFTER_SECONDS = 999_999_999;

/**
 * Returns the seconds of `Retry-After`. If the field is a date, compares the date with the response's `Date` and not
 * with the local time, because the clocks of the service and of this computer may differ.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after') ?? '';
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // Accept only texts that end with GMT, because `Date.parse` also parses many texts that are no HTTP date.
  const date = field.endsWith(' GMT') ? Date.parse(field) : NaN;
  const seconds = /^\d+$/.test(field) ? Number(field) : Math.ceil((date - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS);
}

/**
 * Returns the cursor of the next page from the `Link` header. Uses only the cursor, not the address in that header: the
 * address may name another server, and that server must not get the API key.
 */
export function nextCursor(headers: Headers): string | undefined {
  const [, target] = /<([^<>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? undefined;
}
