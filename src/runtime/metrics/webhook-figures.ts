import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DeliveryFigures } from '../../modules/webhooks';
import { MetricsService } from './metrics.service';

/** Metrics of webhooks. No label names a webhook or a client, because their number is unlimited. */
@Injectable()
export class WebhookFigures implements OnModuleInit {
  constructor(
    private readonly metrics: MetricsService,
    private readonly deliveries: DeliveryFigures,
  ) {}

  onModuleInit(): void {
    this.metrics.counter(
      'petstore_webhook_attempts_total',
      'Attempts of this instance to deliver an event to a webhook, by whether it was delivered or failed.',
      () => this.deliveries.attempts,
      'result',
    );
    this.metrics.gauge(
      'petstore_webhook_deliveries_pending',
      'Deliveries of all instances that wait for an attempt, up to 100,000, including retries.',
      () => this.deliveries.pending,
    );
    this.metrics.gauge(
      'petstore_webhook_oldest_due_seconds',
      'How long the oldest pending delivery has been due, excluding webhooks with failing receivers.',
      () => this.deliveries.oldestDueSeconds,
    );
  }
}
