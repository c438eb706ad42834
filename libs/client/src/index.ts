export { WebhookVerificationError } from 'standardwebhooks';
export { type PetStoreClient, type PetStoreOptions, createPetStoreClient } from './client.ts';
export { PetStoreError, type PetStoreErrorCode } from './errors.ts';
export type * from './generated/types.ts';
export { type Input, type Page, all } from './pages.ts';
export type { Retry } from './retrying-fetch.ts';
export { type WebhookHeaders, verifyWebhook } from './verify-webhook.ts';
