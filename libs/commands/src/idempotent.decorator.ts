import { UseInterceptors, applyDecorators } from '@nestjs/common';
import { documentErrors, documentHeaders, documentParameters } from '#libs/openapi';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './idempotency-errors';
import { IdempotencyInterceptor } from './idempotency.interceptor';

/** The operation honours `Idempotency-Key`. Its handler takes the Origin (`@SentBy()`) and runs one command with it. */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    documentParameters({ name: 'Idempotency-Key' }),
    documentHeaders('kept', 'Idempotent-Replayed'),
    documentErrors(IdempotencyInProgressError, IdempotencyKeyReusedError),
  );
}
