import {
  NoAnswerError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  type ServiceErrorCode,
  UnexpectedAnswerError,
} from './errors.ts';
import { ERROR_CLASSES } from './generated/error-classes.ts';
import { nextCursor, readRateLimit, readRetryAfter } from './header-fields.ts';

type FailedCall = Pick<PetStoreErrorDetails, 'operation' | 'idempotencyKey'>;

const CLASSES: Partial<Record<PetStoreErrorCode, typeof PetStoreError>> = {
  ...ERROR_CLASSES,
  no_answer: NoAnswerError,
  unexpected_answer: UnexpectedAnswerError,
};

/** An error of the class for its code; a plain PetStoreError for a code that only a newer service knows. */
export function failureFrom(details: PetStoreErrorDetails, options?: { cause?: unknown }): PetStoreError {
  return new (CLASSES[details.code] ?? PetStoreError)(details, options);
}

/** The error that a response reports. */
export function failureOf(call: FailedCall, { status, headers }: Response, body: unknown): PetStoreError {
  const { operation, idempotencyKey } = call;
  const reported = isErrorBody(body)
    ? { code: body.code, message: body.message }
    : {
        code: 'unexpected_answer' as const,
        message: `${operation} returned ${status}, but not from the Pet Store service.`,
      };
  return failureFrom({
    ...reported,
    status,
    operation,
    idempotencyKey,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(headers, Date.now()),
    rateLimit: readRateLimit(headers),
    cursor: nextCursor(headers),
  });
}

/** The error of a call that was not sent because it would be refused like an earlier one. */
export function refusedLike(refusal: PetStoreError, call: FailedCall, seconds: number): PetStoreError {
  const { operation, idempotencyKey } = call;
  const { code, message, status, rateLimit } = refusal;
  const retryAfterSeconds = Math.ceil(seconds);
  return failureFrom({ code, message, status, operation, retryAfterSeconds, rateLimit, idempotencyKey });
}

/** Whether a body has the form `{code, message, status}`. */
function isErrorBody(body: unknown): body is { code: ServiceErrorCode; message: string } {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string';
}
