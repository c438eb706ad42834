import { Module } from '@nestjs/common';
import { WebhookAdministration } from './webhook-administration';
import { WebhookSwitch } from './webhook-switch';

/** For those who run the service: nothing of it sends anything. */
@Module({
  providers: [WebhookAdministration, WebhookSwitch],
  exports: [WebhookAdministration, WebhookSwitch],
})
export class WebhookAdministrationModule {}
