export { type PetStoreClient, createPetStoreClient } from './client.ts';
export type { DeprecationNotice } from './deprecations.ts';
export { type Event, type EventOf, EventStream, type EventType, type EventsInput } from './events.ts';
export {
  NoAnswerError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  type ServiceErrorCode,
  UnexpectedAnswerError,
} from './errors.ts';
export * from './generated/error-classes.ts';
export type { ApiPromise, ApiResponse, List } from './api-promise.ts';
export type { CallOptions } from './call.ts';
export type { PetStoreOptions } from './options.ts';
export type { Schemas } from './resources.ts';
export type { RateLimit, RateLimitNotice, RateLimitWindow } from './header-fields.ts';
export {
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
  verifyWebhook,
} from './verify-webhook.ts';
