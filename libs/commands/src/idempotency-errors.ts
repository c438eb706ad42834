import { defineError } from '#libs/errors';

export const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  message: () => 'The first request with this Idempotency-Key is still running. Try again shortly.',
  example: [],
});

export const IdempotencyKeyReusedError = defineError({
  code: 'idempotency_key_reused',
  status: 422,
  when: 'This Idempotency-Key was used for a different request in the last 24 hours.',
  message: () => 'This Idempotency-Key was already used for a different request. Use a new key.',
  example: [],
});
