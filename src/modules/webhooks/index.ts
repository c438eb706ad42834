export { DeliveryWorker } from './delivery/delivery-worker';
export { Dispatcher } from './delivery/dispatcher';
export { retryAfterMs } from './delivery/retry-schedule';
export { WebhookAdministration, type WebhookOverview } from './webhook-administration';
export { WEBHOOK_SCHEMAS } from './webhook-callbacks';
export { WebhookKeyError } from './webhook-secrets';
export { WEBHOOKS, WebhookAdministrationModule, WebhooksModule } from './webhooks.module';
