import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { KeyDirectory } from '../../modules/auth';
import { lostLogLines } from '../logging';
import { QuotaStore } from '../../modules/quotas';
import { MetricsService } from './metrics.service';

/** Metrics of values that the service has anyway. They are read at each scrape, so they cost requests nothing. */
@Injectable()
export class ServiceFigures implements OnModuleInit {
  constructor(
    private readonly metrics: MetricsService,
    private readonly database: Database,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
  ) {}

  onModuleInit(): void {
    this.metrics.gauge(
      'petstore_limits_degraded',
      'Whether limits are counted by this instance alone because Redis is unavailable (1) or not (0).',
      () => Number(this.quotas.isDegraded()),
      undefined,
      'max',
    );
    this.metrics.counter(
      'petstore_key_cache_requests_total',
      'Lookups of API keys, from the cache (hit) or from the database (miss).',
      () => this.directory.uses,
      'result',
    );
    this.metrics.counter(
      'petstore_log_lines_lost_total',
      'Log lines that were dropped because nothing read the log.',
      lostLogLines,
    );
    this.tellOfPool();
  }

  private tellOfPool(): void {
    this.metrics.gauge(
      'petstore_database_pool_connections',
      'Database connections, by whether they are in use (busy) or not (idle).',
      () => {
        const { busy, idle } = this.database.poolUse;
        return { busy, idle };
      },
      'state',
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
}
