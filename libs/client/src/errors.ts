import type { ErrorBody } from './generated/types.ts';

/**
 * A code of the service, or one of the SDK: `no_answer` (the connection failed or stayed silent), `not_modified` (304, after
 * `If-None-Match`), `unexpected_answer` (of something else, such as a proxy, or a redirect, which is not followed).
 */
export type PetStoreErrorCode = ErrorBody['code'] | 'no_answer' | 'not_modified' | 'unexpected_answer';

/** A call that failed after all sensible attempts. Rely on the code; the message is for people. */
export class PetStoreError extends Error {
  override readonly name = 'PetStoreError';
  readonly code: PetStoreErrorCode;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** Seconds until the same request would no longer be refused for the same reason. */
  readonly retryAfterSeconds: number | undefined;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Where to go on in the feed, if the service has lost the events that were read (`events_lost`). */
  readonly next: string | undefined;

  /**
   * @param operation method and path of the OpenAPI document: `GET /pets/{petId}`
   * @param response its body has been read. Not printed with the error.
   * @param idempotencyKey sent again with this key and the same body, a POST is executed only once
   */
  constructor(
    readonly operation: string,
    readonly idempotencyKey: string | undefined,
    readonly response?: Response,
    body?: unknown,
    cause?: unknown,
  ) {
    const { code, message } = (body ?? {}) as Partial<ErrorBody>;
    super(message ?? `${operation}: ${problemOf(response, cause)}.`, {
      cause: cause instanceof NoAnswer ? cause.cause : cause,
    });
    const unanswered = cause instanceof NoAnswer ? 'no_answer' : 'unexpected_answer';
    this.status = response?.status ?? 0;
    this.code = code ?? (this.status === 304 ? 'not_modified' : unanswered);
    this.retryAfterSeconds = response && retryAfterOf(response.headers);
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
    this.next = response && nextCursor(response.headers);
    Object.defineProperty(this, 'response', { enumerable: false });
  }

  /** For the console of Node: the stack, and the fields in one line. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { name: _name, ...fields } = this;
    return `${this.stack}\n    ${JSON.stringify(fields)}`;
  }
}

/** No attempt had a response. The cause says why. */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super(`no answer (${reasonOf(cause as Error)})`, { cause });
  }
}

function problemOf(response: Response | undefined, cause: unknown): string {
  if (response === undefined) {
    return cause instanceof NoAnswer
      ? cause.message
      : `the response is not JSON (${(cause as Error).message})`;
  }
  const { status, type, headers } = response;
  if (status === 304) return 'nothing has changed (304)';
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return `baseUrl leads to a redirect${headers.has('location') ? ` to ${headers.get('location')}` : ''}, which is not followed`;
  }
  return `${status} ${headers.get('content-type') ?? 'without a type'}, which is no answer of the Pet Store service`;
}

/** `fetch` says why in the cause; where it has tried several addresses, in the code. */
function reasonOf({ message, cause }: Error): string {
  const { message: detail, code } = (cause ?? {}) as { message?: string; code?: string };
  return detail || code || message;
}

/** Of any age; longer waits are no use to anybody. */
const MAX_SECONDS = 999_999_999;

/** The seconds of `Retry-After`, which may be a date, on the clock of the one who responded. */
export function retryAfterOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after') ?? '';
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // `Date.parse` takes many other texts for dates.
  const date = field.endsWith(' GMT') ? Date.parse(field) : NaN;
  const seconds = /^\d+$/.test(field) ? Number(field) : Math.ceil((date - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_SECONDS);
}

/** The cursor in the link to the next page (RFC 8288). Only that: the key must not be sent to another host. */
export function nextCursor(headers: Headers): string | undefined {
  const [, target] = /<([^<>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? undefined;
}
