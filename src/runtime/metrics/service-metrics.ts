import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { AuthModule, KeyDirectory } from '../../modules/auth';
import { EventLog, EventTail, EventsModule } from '../../modules/events';
import { QuotaStore, QuotasModule } from '../../modules/quotas';
import { DeliveryMetrics, WebhooksModule } from '../../modules/webhooks';
import { lostLogLines } from '../logging';
import { MetricsService } from './metrics.service';

/** Metrics of values that the service has anyway. They are read at each scrape, so they cost requests nothing. */
@Injectable()
export class ServiceMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: MetricsService,
    private readonly database: Database,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
    private readonly events: EventLog,
    private readonly tail: EventTail,
    private readonly deliveries: DeliveryMetrics,
  ) {}

  onModuleInit(): void {
    this.metrics.gauge(
      'petstore_limits_degraded',
      'Whether limits are counted by this instance alone because Redis is unavailable (1) or not (0).',
      () => Number(this.quotas.isDegraded()),
      [],
      'max',
    );
    this.metrics.counter(
      'petstore_key_cache_requests_total',
      'Lookups of API keys, from the cache (hit) or from the database (miss).',
      () => this.directory.uses,
      ['result'],
    );
    this.metrics.counter(
      'petstore_log_lines_lost_total',
      'Log lines that were dropped because nothing read the log.',
      lostLogLines,
    );
    this.registerPoolMetrics();
    this.registerEventMetrics();
    this.registerWebhookMetrics();
  }

  private registerPoolMetrics(): void {
    this.metrics.gauge(
      'petstore_database_pool_connections',
      'Database connections, by whether they are in use (busy) or not (idle).',
      () => {
        const { busy, idle } = this.database.poolUse;
        return { busy, idle };
      },
      ['state'],
    );
    this.metrics.gauge(
      'petstore_database_pool_max_connections',
      'Maximum number of database connections.',
      () => this.database.poolUse.max,
    );
    this.metrics.gauge(
      'petstore_database_pool_waiting_requests',
      'Operations waiting for a database connection.',
      () => this.database.poolUse.waiting,
    );
  }

  private registerEventMetrics(): void {
    this.metrics.counter(
      'petstore_events_written_total',
      'Events that this instance has committed.',
      () => this.events.written,
      ['type'],
    );
    this.metrics.gauge(
      'petstore_events_waiting_requests',
      'Requests that wait for events.',
      () => this.tail.waiting,
    );
  }

  /** No label names a webhook or a client, because their number is unlimited. */
  private registerWebhookMetrics(): void {
    this.metrics.counter(
      'petstore_webhook_attempts_total',
      'Attempts of this instance to deliver an event to a webhook, by whether it was delivered or failed.',
      () => this.deliveries.attempts,
      ['result'],
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

@Module({
  imports: [AuthModule, QuotasModule, EventsModule, WebhooksModule],
  providers: [MetricsService, ServiceMetrics],
  exports: [MetricsService],
})
export class MetricsModule {}
