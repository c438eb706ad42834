// What a response says: limits, deprecation, and why it failed.
import type { ServiceErrorCode } from './generated/api.ts';
import { linkTo, nextCursor } from './results.ts';

/**
 * `no_answer`: the connection failed or stayed silent. `unexpected_answer`: the response did not come from the service,
 * but for example from a proxy, or was a redirect.
 */
export type PetStoreErrorCode = ServiceErrorCode | 'no_answer' | 'unexpected_answer';

type Details = Omit<PetStoreError, keyof Error> & { message: string };

/** A request that failed after all sensible attempts. Rely on the code; the message is for people. */
export class PetStoreError extends Error {
  override readonly name = 'PetStoreError';
  declare readonly code: PetStoreErrorCode;
  /** The HTTP status; 0 without a response. */
  declare readonly status: number;
  /** Method and path of the document: `GET /pets/{petId}`. */
  declare readonly operation: string;
  /** Identifies the request in the service's log. */
  declare readonly requestId?: string;
  /** Whole seconds until the same request would no longer be refused for the same reason. */
  declare readonly retryAfterSeconds?: number;
  declare readonly rateLimit?: RateLimit;
  /** The request's key. Sent again with this key and the same body, the request is executed only once. */
  declare readonly idempotencyKey?: string;
  /** Where to go on in the feed, if the service has lost the events that were read (`events_lost`). */
  declare readonly cursor?: string;

  constructor({ message, ...details }: Details, options?: { cause?: unknown }) {
    super(message, options);
    Object.assign(this, details);
  }
}

type FailedCall = Pick<PetStoreError, 'operation' | 'idempotencyKey'>;

/** The error that a response reports. */
export function failureOf(call: FailedCall, { status, headers }: Response, body: unknown): PetStoreError {
  const { operation, idempotencyKey } = call;
  const reported = isErrorBody(body)
    ? { code: body.code, message: body.message }
    : {
        code: 'unexpected_answer' as const,
        message: `${operation} returned ${status}, but not from the Pet Store service.`,
      };
  return new PetStoreError({
    ...reported,
    status,
    operation,
    idempotencyKey,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(headers),
    rateLimit: readRateLimit(headers),
    cursor: nextCursor(headers),
  });
}

/** The error of a call that was not sent because it would be refused like an earlier one. */
export function refusedLike(refusal: PetStoreError, call: FailedCall, seconds: number): PetStoreError {
  const { operation, idempotencyKey } = call;
  const { code, message, status, rateLimit } = refusal;
  const retryAfterSeconds = Math.ceil(seconds);
  return new PetStoreError({
    code,
    message,
    status,
    operation,
    retryAfterSeconds,
    rateLimit,
    idempotencyKey,
  });
}

/** Whether a body has the form `{code, message, status}`. */
function isErrorBody(body: unknown): body is { code: ServiceErrorCode; message: string } {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string';
}

/** The caller's rate limit, as reported by one response. */
export interface RateLimit {
  /** Requests allowed by the window with the fewest remaining. */
  limit: number;
  /** Requests left in that window. */
  remaining: number;
  /** When that window resets, according to the service's clock. */
  resetAt: Date;
}

/** A call of a deprecated operation. */
export interface DeprecationNotice {
  /** Method and path of the document: `GET /pets/{petId}`. */
  operation: string;
  /** When it was deprecated (RFC 9745). */
  since?: Date;
  /** From when it may be removed (RFC 8594). */
  sunset?: Date;
  /** Its replacement, from the `Link` with `rel="successor-version"` (RFC 5829). */
  successor?: string;
}

/** @returns undefined for a response without `X-RateLimit-Limit`, `-Remaining` and `-Reset` (unix seconds) */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    wholeNumber(headers.get(`x-ratelimit-${name}`)),
  );
  return limit === undefined || remaining === undefined || reset === undefined
    ? undefined
    : { limit, remaining, resetAt: new Date(reset * 1_000) };
}

/** The seconds of `Retry-After`. */
export function readRetryAfter(headers: Headers): number | undefined {
  return wholeNumber(headers.get('retry-after'));
}

function wholeNumber(field: string | null): number | undefined {
  return field !== null && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}

/** @returns undefined for an operation that is not deprecated */
export function readDeprecation(operation: string, headers: Headers): DeprecationNotice | undefined {
  if (!headers.has('deprecation')) {
    return undefined;
  }
  const since = /^@(\d{1,12})$/.exec(headers.get('deprecation')!)?.[1];
  const sunset = new Date(headers.get('sunset') ?? NaN);
  return {
    operation,
    since: since === undefined ? undefined : new Date(Number(since) * 1_000),
    sunset: Number.isNaN(sunset.getTime()) ? undefined : sunset,
    successor: linkTo('successor-version', headers),
  };
}
