export { CommandOrigin, IdempotentPosts } from './idempotency.interceptor';
export { IdempotencyModule } from './idempotency.module';
export { isNotKept } from './keyed-request';
