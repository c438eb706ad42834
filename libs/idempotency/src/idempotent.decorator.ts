import {
  type ExecutionContext,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Transaction } from '#libs/database';
import { documentErrors, documentHeaders, documentParameters } from '#libs/openapi';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './errors';
import { IdempotencyInterceptor } from './idempotency.interceptor';

/** The operation honours `Idempotency-Key`. Its handler takes the @OpenTransaction and works in it. */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    documentParameters({ name: 'Idempotency-Key' }),
    documentHeaders('kept', 'Idempotent-Replayed'),
    documentErrors(IdempotencyInProgressError, IdempotencyKeyReusedError),
  );
}

/** Parameter decorator: the transaction which keeps the answer under the Idempotency-Key; undefined without a key. */
export const OpenTransaction = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Transaction | undefined =>
    context.switchToHttp().getRequest<FastifyRequest>().idempotencyTransaction,
);
