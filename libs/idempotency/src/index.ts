export { IdempotencyInProgressError, IdempotencyKeyReusedError } from './errors';
export { IdempotencyModule } from './idempotency.module';
export { IdempotencyOwner, isNotKept } from './idempotency.interceptor';
export { Idempotent, OpenTransaction } from './idempotent.decorator';
