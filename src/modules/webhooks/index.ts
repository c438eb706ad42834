export { DeliveryFigures } from './delivery/delivery-figures';
export { WebhookAdministration, type WebhookOverview } from './webhook-administration';
export { WebhookAdministrationModule } from './webhook-administration.module';
export { WebhookKeyError } from './webhook-key-check';
export { WEBHOOK_SCHEMAS } from './webhook-callbacks';
export { WebhookActivation } from './webhook-activation';
export { WebhooksModule } from './webhooks.module';
