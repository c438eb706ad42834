import type { RateLimit } from './header-fields.ts';
import type { components } from './generated/schema.ts';

/** The service's error codes, from its document. A newer service may have more. */
export type ServiceErrorCode = components['schemas']['Error']['code'];

/**
 * `no_answer`: the connection failed or stayed silent. `unexpected_answer`: the response did not come from the service,
 * but for example from a proxy, or was a redirect.
 */
export type PetStoreErrorCode = ServiceErrorCode | 'no_answer' | 'unexpected_answer';

export interface PetStoreErrorDetails {
  code: PetStoreErrorCode;
  message: string;
  /** The HTTP status; 0 without a response. */
  status: number;
  /** Method and path of the document: `GET /pets/{petId}`. */
  operation: string;
  /** Identifies the request in the service's log. */
  requestId?: string;
  /** Whole seconds until the same request would no longer be refused for the same reason. */
  retryAfterSeconds?: number;
  rateLimit?: RateLimit;
  /** The request's key. Sent again with this key and the same body, the request is executed only once. */
  idempotencyKey?: string;
  /** Where to go on in the feed, if the service has lost the events that were read (`events_lost`). */
  cursor?: string;
}

/**
 * A request that failed after all sensible attempts. Rely on the code, or on the class of the code (PetNotFoundError);
 * the message is for people.
 */
export class PetStoreError extends Error implements PetStoreErrorDetails {
  override readonly name: string = 'PetStoreError';
  readonly code: PetStoreErrorCode;
  readonly status: number;
  readonly operation: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly rateLimit?: RateLimit;
  readonly idempotencyKey?: string;
  readonly cursor?: string;

  constructor(details: PetStoreErrorDetails, options?: { cause?: unknown }) {
    super(details.message, options);
    this.code = details.code;
    this.status = details.status;
    this.operation = details.operation;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.rateLimit = details.rateLimit;
    this.idempotencyKey = details.idempotencyKey;
    this.cursor = details.cursor;
  }
}

/** There was no complete response in time. */
export class NoAnswerError extends PetStoreError {
  declare readonly code: 'no_answer';
  override readonly name: string = 'NoAnswerError';
}

/** The response did not come from the service. */
export class UnexpectedAnswerError extends PetStoreError {
  declare readonly code: 'unexpected_answer';
  override readonly name: string = 'UnexpectedAnswerError';
}
