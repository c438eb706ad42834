export { type PetStoreClient, createPetStoreClient } from './client.ts';
export type { DeprecationNotice } from './deprecations.ts';
export { type Event, EventStream, type EventType, type EventsInput } from './follow.ts';
export {
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  type ServiceErrorCode,
} from './errors.ts';
export type { Answer, Schemas } from './operations.ts';
export type { PetStoreOptions } from './options.ts';
export type { RateLimit, RateLimitWindow } from './rate-limit.ts';
export {
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
  verifyWebhook,
} from './verify-webhook.ts';
