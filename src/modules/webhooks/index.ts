export { DeliveryWorker } from './delivery/delivery-worker';
export {
  WEBHOOK_STATE,
  WebhookAdministration,
  type WebhookOverview,
  type WebhookState,
} from './webhook-administration';
export { WEBHOOK_SCHEMAS } from './webhook-callbacks';
export { WebhookKeyError } from './webhook-secrets';
export { WEBHOOKS, WebhookAdministrationModule, WebhooksModule } from './webhooks.module';
