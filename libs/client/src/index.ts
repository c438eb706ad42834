export { type PetStoreClient, createPetStoreClient } from './client.ts';
export type { DeprecationNotice } from './deprecations.ts';
export { type Event, type EventOf, EventStream, type EventType, type EventsInput } from './follow.ts';
export {
  NoAnswerError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  type ServiceErrorCode,
  UnexpectedAnswerError,
} from './errors.ts';
export * from './generated/error-classes.ts';
export type { List } from './list.ts';
export type { Answer, Schemas } from './operations.ts';
export type { PetStoreOptions } from './options.ts';
export type { CallOptions } from './resources.ts';
export type { RateLimit, RateLimitNotice, RateLimitWindow } from './rate-limit.ts';
export {
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
  verifyWebhook,
} from './verify-webhook.ts';
