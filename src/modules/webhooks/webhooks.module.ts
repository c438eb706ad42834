import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { DeliveriesController } from './deliveries.controller';
import { DeliveryModule } from './delivery/delivery.module';
import { WebhookKeyCheck } from './webhook-key-check';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Today counts, so a delivery is there for 30 days at least. */
const DAYS = 31;

/** Events, sent to where clients want them. */
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
