export { WebhookVerificationError } from 'standardwebhooks';
export {
  type Input,
  type Page,
  type PetStoreClient,
  type PetStoreOptions,
  all,
  createPetStoreClient,
} from './client.ts';
export { PetStoreError, type PetStoreErrorCode } from './errors.ts';
export type * from './generated/types.ts';
export type { Retry } from './retrying-fetch.ts';
export { type WebhookHeaders, verifyWebhook } from './verify-webhook.ts';
