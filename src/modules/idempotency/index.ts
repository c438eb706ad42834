export { IdempotentPosts, isNotKept, CommandOrigin } from './idempotency.interceptor';
