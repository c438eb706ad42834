export { DeliveryFigures } from './delivery/delivery-figures';
export { isNetwork } from './delivery/address-policy';
export { WebhookAdministration, type WebhookOverview } from './webhook-administration';
export { WebhookAdministrationModule } from './webhook-administration.module';
export { WebhookKeyError } from './webhook-key-check';
export { WebhookSwitch } from './webhook-switch';
export { WebhooksModule } from './webhooks.module';
