import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { AuthModule, KeyDirectory } from '../modules/auth';
import { EventLog, EventTail, EventsModule } from '../modules/events';
import { QuotaStore, QuotasModule } from '../modules/quotas';
import { DeliveryMetrics, WebhooksModule } from '../modules/webhooks';
import { SETTINGS, type Settings } from '../settings';
import { HealthModule, Readiness } from './health';
import { lostLogLines } from './logging';
import { VERSION } from './version';
import { MetricsService, by } from './metrics';

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
    private readonly readiness: Readiness,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.registerReadiness();
    this.metrics.gauge(
      'petstore_limits_degraded',
      'Whether limits are counted by this instance alone because Redis is unavailable (1) or not (0).',
      () => Number(this.quotas.redis.isDegraded),
      { aggregator: 'max' },
    );
    this.metrics.gauge(
      'petstore_limits_evictable',
      'Whether Redis may evict counters, because its maxmemory-policy is not noeviction (1), or not (0).',
      () => Number(this.quotas.redis.evictionPolicy !== undefined),
      { aggregator: 'max' },
    );
    this.metrics.counter(
      'petstore_key_cache_requests_total',
      'Lookups of API keys, from the cache (hit) or from the database (miss).',
      () => by('result', this.directory.uses),
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

  private registerReadiness(): void {
    const { metrics, readiness } = this;
    metrics.gauge(
      'petstore_build_info',
      'Always 1; its labels are the versions of the service and of Node.',
      () => [[{ version: VERSION, node: process.versions.node }, 1]],
      { labels: ['version', 'node'], aggregator: 'max' },
    );
    metrics.gauge(
      'petstore_ready',
      'Whether /health/ready is 200 (1) or not (0).',
      async () => Number((await readiness.state()).reason === undefined),
      { aggregator: 'min' },
    );
    metrics.gauge(
      'petstore_dependency_up',
      'Whether the database answers, its notifications of changes arrive, and Redis (if it is used) counts (1) or not (0).',
      async () => {
        const { database, changesHeard, limitsDegraded } = await readiness.state();
        const up: Record<string, number> = { database: Number(database), changes: Number(changesHeard) };
        return by(
          'dependency',
          this.settings.redisUrl === undefined ? up : { ...up, redis: Number(!limitsDegraded) },
        );
      },
      { labels: ['dependency'], aggregator: 'min' },
    );
    metrics.gauge(
      'petstore_migrations_pending',
      'Migrations of this version that have not run; NaN while the database does not answer.',
      async () => (await readiness.state()).pending?.length ?? NaN,
      { aggregator: 'max' },
    );
  }

  private registerPoolMetrics(): void {
    this.metrics.gauge(
      'petstore_database_pool_connections',
      'Database connections, by whether they are in use (busy) or not (idle).',
      () => {
        const { busy, idle } = this.database.poolUse;
        return by('state', { busy, idle });
      },
      { labels: ['state'] },
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
      () => by('type', this.events.written),
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
      () => by('result', this.deliveries.attempts),
      ['result'],
    );
    // Each worker has read the same database.
    this.metrics.gauge(
      'petstore_webhook_deliveries_pending',
      'Deliveries of all instances that wait for an attempt, up to 100,000, including retries.',
      () => this.deliveries.pending,
      { aggregator: 'max' },
    );
    this.metrics.gauge(
      'petstore_webhook_oldest_due_seconds',
      'How long the oldest pending delivery has been due, excluding webhooks with failing receivers.',
      () => this.deliveries.oldestDueSeconds,
      { aggregator: 'max' },
    );
  }
}

@Module({
  imports: [AuthModule, QuotasModule, EventsModule, WebhooksModule, HealthModule],
  providers: [MetricsService, ServiceMetrics],
  exports: [MetricsService],
})
export class MetricsModule {}
