import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RetentionModule, olderThan } from '#libs/database';
import { SETTINGS, type Settings } from '../../settings';
import { EventsModule, type Participant } from '../events';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryQueue } from './delivery/delivery-queue';
import { DeliveryWorker } from './delivery/delivery-worker';
import { Dispatcher } from './delivery/dispatcher';
import { Sender } from './delivery/sender';
import { WebhookAdministration } from './webhook-administration';
import { SecretVault, WebhookKeyCheck } from './webhook-secrets';
import { DispatchPosition, Webhook, WebhookDelivery } from './webhook.entity';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** The part of webhooks in writes: no event tells of them. */
export const WEBHOOKS: Participant[] = [{ entity: Webhook }, { entity: WebhookDelivery }];

/** Webhooks for operators; sends nothing. */
@Module({
  imports: [TypeOrmModule.forFeature([Webhook, WebhookDelivery, DispatchPosition])],
  providers: [WebhookAdministration],
  exports: [WebhookAdministration, TypeOrmModule],
})
export class WebhookAdministrationModule {}

/** Includes today, so that deliveries are kept for at least 30 days. */
const DAYS = 31;
const OF_DELETED = 'webhook_id = ANY(ARRAY(SELECT id FROM webhooks WHERE deleted_at IS NOT NULL))';
const utcDayOf = (column: string): string => `(${column} AT TIME ZONE 'UTC')::date`;

/** Webhooks: their operations and deliveries. */
@Module({
  imports: [
    EventsModule,
    WebhookAdministrationModule,
    RetentionModule.keep({ table: 'webhook_deliveries', expired: olderThan(DAYS, utcDayOf('created_at')) }),
    RetentionModule.keep({ table: 'webhook_deliveries', expired: () => OF_DELETED }),
    // A deleted webhook is removed a day after its deliveries.
    RetentionModule.keep({ table: 'webhooks', expired: olderThan(2, utcDayOf('deleted_at')) }),
  ],
  controllers: [WebhooksController],
  providers: [
    {
      provide: AddressPolicy,
      inject: [SETTINGS],
      useFactory: ({ webhookNetworks }: Settings) => new AddressPolicy(webhookNetworks),
    },
    {
      provide: SecretVault,
      inject: [SETTINGS],
      useFactory: ({ webhookKey }: Settings) => new SecretVault(webhookKey),
    },
    {
      provide: Sender,
      inject: [AddressPolicy],
      useFactory: (policy: AddressPolicy) => new Sender(policy),
    },
    WebhooksService,
    WebhookKeyCheck,
    DeliveryQueue,
    DeliveryWorker,
    Dispatcher,
  ],
  exports: [DeliveryWorker, WebhookAdministrationModule],
})
export class WebhooksModule {}
