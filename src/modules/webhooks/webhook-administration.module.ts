import { Module } from '@nestjs/common';
import { WebhookAdministration } from './webhook-administration';
import { WebhookActivation } from './webhook-activation';

/** Webhooks for operators; sends nothing. */
@Module({
  providers: [WebhookAdministration, WebhookActivation],
  exports: [WebhookAdministration, WebhookActivation],
})
export class WebhookAdministrationModule {}
