import type { ErrorBody } from './generated/types.ts';

/**
 * A code of the service, or one of the SDK: `no_answer` (the connection failed or stayed silent, or a redirect was
 * refused), `not_modified` (304, after `If-None-Match`), `unexpected_answer` (of something else, such as a proxy).
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
  /** Where to go on in the feed, if the service has lost the events that were read (`events_lost`). */
  readonly next: string | undefined;

  /**
   * @param operation method and path of the OpenAPI document: `GET /pets/{petId}`
   * @param response its body has been read; `X-Request-Id` identifies the request in the service's log
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
    super(message ?? `${operation} got no usable response.`, { cause });
    const isAnswer = response !== undefined || (cause as Error).name === 'SyntaxError';
    const unanswered = isAnswer ? 'unexpected_answer' : 'no_answer';
    this.status = response?.status ?? 0;
    this.code = code ?? (this.status === 304 ? 'not_modified' : unanswered);
    this.retryAfterSeconds = response && retryAfterOf(response.headers);
    this.next = response && nextCursor(response.headers);
  }
}

/** The seconds of `Retry-After`. */
export function retryAfterOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(field) ? Number(field) : undefined;
}

/** The cursor in the link to the next page (RFC 8288). Only that: the key must not be sent to another host. */
export function nextCursor(headers: Headers): string | undefined {
  const [, target] = /<([^<>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? undefined;
}
