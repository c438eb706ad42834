export { DeliveryFigures } from './delivery/delivery-figures';
export { WEBHOOK_STATE, type WebhookState } from './webhook-state';
export { WebhookAdministration, type WebhookOverview } from './webhook-administration';
export { WebhookAdministrationModule } from './webhook-administration.module';
export { WebhookKeyError } from './webhook-key-check';
export { WEBHOOK_SCHEMAS } from './webhook-callbacks';
export { WebhookActivation } from './webhook-activation';
export { WebhooksModule } from './webhooks.module';
