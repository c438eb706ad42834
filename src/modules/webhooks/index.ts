import { setTimeout as pause } from 'node:timers/promises';
import { Logger, Module, type Provider } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Gauge, type Registry } from 'prom-client';
import { olderThan } from '#libs/database';
import type { Feature } from '../../feature';
import { SETTINGS } from '../../settings/settings';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryQueue } from './delivery/delivery-queue';
import { foundByDeliveries } from './delivery/delivery-statements';
import { DeliveryWorker } from './delivery/delivery-worker';
import { Sender } from './delivery/sender';
import type { WebhookSettings } from './settings';
import { WEBHOOKS_OF_CLIENT, WebhookAdministrationService } from './webhook-administration.service';
import { WEBHOOK_SCHEMAS } from './webhook-callbacks';
import { SecretVault, WebhookKeyLoader, webhookKeyFile } from './webhook-secrets';
import { DispatchPosition, Webhook, WebhookDelivery } from './webhook.entity';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

const ADDRESS_POLICY: Provider = {
  provide: AddressPolicy,
  inject: [SETTINGS],
  useFactory: ({ webhookNetworks }: WebhookSettings) => new AddressPolicy(webhookNetworks),
};

@Module({
  imports: [TypeOrmModule.forFeature([Webhook, WebhookDelivery, DispatchPosition])],
  providers: [ADDRESS_POLICY, SecretVault, WebhookAdministrationService, WebhooksService],
  exports: [AddressPolicy, SecretVault, WebhookAdministrationService, WebhooksService, TypeOrmModule],
})
class WebhookAdministrationModule {}

@Module({
  imports: [WebhookAdministrationModule],
  controllers: [WebhooksController],
  providers: [WebhookKeyLoader, Sender, DeliveryQueue, DeliveryWorker],
})
class WebhooksModule {}

const OF_DELETED = `webhook_id = ANY(ARRAY(
    WITH RECURSIVE ${foundByDeliveries('true')} SELECT id FROM found EXCEPT SELECT id FROM webhooks))`;

const OLDEST_DUE = 'petstore_webhook_oldest_due_seconds';
/** How long the metric OLDEST_DUE waits for the database. The time is less than the two seconds within which a scrape is answered. */
const READ_MS = 1_500;

function deliveryMetrics(app: NestFastifyApplication, registers: Registry[]): void {
  const queue = app.get(DeliveryQueue);
  const logger = new Logger('Metrics');
  let isMissing = false;
  registers.forEach((register) => register.registerMetric(app.get(DeliveryWorker).attempts));
  new Gauge({
    name: OLDEST_DUE,
    help: 'How long the oldest pending delivery has been due, excluding webhooks with failing receivers.',
    // Every worker process reads the same value from the database, so report the maximum instead of the sum.
    aggregator: 'max',
    registers,
    async collect() {
      const late = pause(READ_MS, `Error: no value within ${READ_MS} ms`, { ref: false });
      const read = await Promise.race([queue.oldestDueSeconds().catch(String), late]);
      // If the database does not answer, leave this metric out, so that the scrape still has all other metrics.
      this.remove();
      if (typeof read === 'number') {
        this.set(read);
      } else if (!isMissing) {
        logger.warn(`The metric ${OLDEST_DUE} is missing: ${read}`);
      }
      isMissing = typeof read !== 'number';
    },
  });
}

export const WEBHOOKS: Feature = {
  module: WebhooksModule,
  cliModule: WebhookAdministrationModule,
  companionFile: webhookKeyFile,
  tables: [{ entity: Webhook }, { entity: WebhookDelivery }],
  expiredRows: [
    // Keep deliveries for 31 days. Because today counts as one of these days, a delivery is kept for at least 30 full
    // days.
    { table: 'webhook_deliveries', condition: olderThan(31, `(created_at AT TIME ZONE 'UTC')::date`) },
    { table: 'webhook_deliveries', condition: () => OF_DELETED },
  ],
  clientDependent: WEBHOOKS_OF_CLIENT,
  schemas: WEBHOOK_SCHEMAS,
  metrics: deliveryMetrics,
  cliCommands: async () => [(await import('./webhooks.command.js')).WebhooksCommand],
};
