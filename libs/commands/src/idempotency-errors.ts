import { defineError } from '#libs/errors';

export const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  message: () => 'The first request with this Idempotency-Key has not been answered yet. Try again shortly.',
  example: [],
});

export const IdempotencyKeyReusedError = defineError({
  code: 'idempotency_key_reused',
  status: 422,
  when: 'This Idempotency-Key was used within 24 hours for another request.',
  message: () => 'This Idempotency-Key belongs to another request. Use a new key for a new request.',
  example: [],
});
