import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/database';
import { DeliveriesController } from './deliveries.controller';
import { DeliveryModule } from './delivery/delivery.module';
import { WebhookKeyCheck } from './webhook-key-check';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Includes today, so that deliveries are kept for at least 30 days. */
const DAYS = 31;
const DAY_OF_DELETION = `(deleted_at AT TIME ZONE 'UTC')::date`;

/** Webhooks: their operations and deliveries. */
@Module({
  imports: [
    DeliveryModule,
    RetentionModule.keep({ table: 'webhook_deliveries', dayColumn: 'day', days: DAYS }),
    // A deleted webhook is removed a day after the last of its deliveries.
    RetentionModule.keep({ table: 'webhooks', dayColumn: DAY_OF_DELETION, days: DAYS + 1 }),
  ],
  controllers: [WebhooksController, DeliveriesController],
  providers: [WebhooksService, WebhookKeyCheck],
  exports: [DeliveryModule],
})
export class WebhooksModule {}
