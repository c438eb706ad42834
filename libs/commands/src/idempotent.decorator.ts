import { UseInterceptors, applyDecorators } from '@nestjs/common';
import { documentErrors, documentHeaders, documentParameters } from '#libs/openapi';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './idempotency-errors';
import { IdempotencyInterceptor } from './idempotency.interceptor';

/** The operation supports `Idempotency-Key`. Its handler must run one command with the Origin (`@SentBy()`). */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    documentParameters({ name: 'Idempotency-Key' }),
    documentHeaders('kept', 'Idempotent-Replayed'),
    documentErrors(IdempotencyInProgressError, IdempotencyKeyReusedError),
  );
}
