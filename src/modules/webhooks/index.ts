import { setTimeout as pause } from 'node:timers/promises';
import { Logger, Module, type Provider } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Gauge, type Registry } from 'prom-client';
import { olderThan } from '#libs/database';
import type { Feature } from '../../feature';
import { SETTINGS } from '../../settings';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryQueue, foundByDeliveries, WEBHOOK_SOCKETS } from './delivery/delivery-queue';
import { DeliveryWorker } from './delivery/delivery-worker';
import { Sender } from './delivery/sender';
import type { WebhookSettings } from './settings';
import { WEBHOOK_SCHEMAS } from './webhook-callbacks';
import { SecretVault, WebhookKeyCheck, webhookKeyFile, withWebhookKey } from './webhook-secrets';
import { DispatchPosition, Webhook, WebhookDelivery } from './webhook.entity';
import { WebhooksController } from './webhooks.controller';
import { WEBHOOKS_OF_CLIENT, WebhooksService } from './webhooks.service';

const ADDRESS_POLICY: Provider = {
  provide: AddressPolicy,
  inject: [SETTINGS],
  useFactory: ({ webhookNetworks }: WebhookSettings) => new AddressPolicy(webhookNetworks),
};

@Module({
  imports: [TypeOrmModule.forFeature([Webhook, WebhookDelivery, DispatchPosition])],
  providers: [ADDRESS_POLICY, SecretVault, WebhooksService],
  exports: [AddressPolicy, SecretVault, WebhooksService, TypeOrmModule],
})
class WebhookAdministrationModule {}

@Module({
  imports: [WebhookAdministrationModule],
  controllers: [WebhooksController],
  providers: [WebhookKeyCheck, Sender, DeliveryQueue, DeliveryWorker],
})
class WebhooksModule {}

const OF_DELETED = `webhook_id = ANY(ARRAY(
    WITH RECURSIVE ${foundByDeliveries('true')} SELECT id FROM found EXCEPT SELECT id FROM webhooks))`;

const OLDEST_DUE = 'petstore_webhook_oldest_due_seconds';
/** Timeout of the database for a metric, in milliseconds. After the timeout, the scrape leaves the metric out. */
const COLLECT_MS = 1_500;

function deliveryMetrics(app: NestFastifyApplication, registers: Registry[]): void {
  const queue = app.get(DeliveryQueue);
  registers.forEach((register) => register.registerMetric(app.get(DeliveryWorker).attempts));
  const logger = new Logger('Metrics');
  let isMissing = false;
  new Gauge({
    name: OLDEST_DUE,
    help: 'How long the oldest pending delivery has been due, excluding webhooks with failing receivers.',
    // Every worker process reads the same value from the database, so report the maximum instead of the sum.
    aggregator: 'max',
    registers,
    async collect() {
      try {
        this.set(await Promise.race([queue.oldestDueSeconds(), late()]));
        isMissing = false;
      } catch (error) {
        this.remove();
        if (!isMissing) {
          logger.warn(`The metric ${OLDEST_DUE} is missing: ${String(error)}`);
        }
        isMissing = true;
      }
    },
  });
}

async function late(): Promise<never> {
  await pause(COLLECT_MS, undefined, { ref: false });
  throw new Error(`no value within ${COLLECT_MS} ms`);
}

export const WEBHOOKS: Feature = {
  module: WebhooksModule,
  commandModule: WebhookAdministrationModule,
  prepare: withWebhookKey,
  copiedFile: webhookKeyFile,
  tables: [{ entity: Webhook }, { entity: WebhookDelivery }],
  expiredRows: [
    // Keep deliveries for at least 30 full days: today counts as one day, hence 31.
    { table: 'webhook_deliveries', condition: olderThan(31, `(created_at AT TIME ZONE 'UTC')::date`) },
    { table: 'webhook_deliveries', condition: () => OF_DELETED },
  ],
  clientDependent: WEBHOOKS_OF_CLIENT,
  outgoing: {
    name: 'webhooks',
    max: WEBHOOK_SOCKETS,
    limit: (app, sockets) => app.get(DeliveryWorker).limitSockets(sockets),
  },
  schemas: WEBHOOK_SCHEMAS,
  metrics: deliveryMetrics,
  commands: async () => [(await import('./webhooks.command.js')).WebhooksCommand],
};
