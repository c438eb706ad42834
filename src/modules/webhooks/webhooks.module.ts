import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { DeliveriesController } from './deliveries.controller';
import { DeliveryModule } from './delivery/delivery.module';
import { WebhookKeyCheck } from './webhook-key-check';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Includes today, so that deliveries are kept for at least 30 days. */
const DAYS = 31;

/** Webhooks: their operations and deliveries. */
@Module({
  imports: [
    DeliveryModule,
    RetentionModule.keep({ table: 'webhook_deliveries', dayColumn: 'day', days: DAYS }),
  ],
  controllers: [WebhooksController, DeliveriesController],
  providers: [WebhooksService, WebhookKeyCheck],
  exports: [DeliveryModule],
})
export class WebhooksModule {}
