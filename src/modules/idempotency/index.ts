export { IdempotentPosts, isNotKept, SentBy } from './idempotency.interceptor';
