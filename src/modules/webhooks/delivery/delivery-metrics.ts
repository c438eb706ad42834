import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, RepeatingTask } from '#libs/clock';
import { Database } from '#libs/database';
import { deliveriesWhere } from '../webhook-administration';
import { DeliveryWorker } from './delivery-worker';

const REFRESH_MS = 15_000;
/**
 * Ignores failing webhooks for `oldest_due`: their owners have to fix them. SQL, because TypeORM has no lateral join, and
 * without one all pending deliveries would be read.
 */
const METRICS = {
  text: `SELECT
    ${deliveriesWhere(`status = 'pending'`)} AS pending,
    (SELECT min(oldest.due_at) FROM webhooks CROSS JOIN LATERAL (SELECT due_at FROM webhook_deliveries
        WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at LIMIT 1) AS oldest
      WHERE webhooks.enabled AND webhooks.failing_since IS NULL
        AND (webhooks.paused_until IS NULL OR webhooks.paused_until <= $1)) AS oldest_due`,
};

interface MetricsRow {
  pending: number;
  oldest_due: Date | null;
}

/** Delivery metrics. Values from the database are up to 15 seconds old. */
@Injectable()
export class DeliveryMetrics implements OnApplicationBootstrap, OnModuleDestroy {
  /** Pending deliveries of all instances, up to 100,000. */
  pending = 0;
  /** How long the oldest pending delivery has been due, without failing webhooks. */
  oldestDueSeconds = 0;
  private readonly task = new RepeatingTask({
    name: 'Reading the metrics of webhooks',
    work: () => this.refresh(),
    everyMs: REFRESH_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly worker: DeliveryWorker,
    private readonly clock: Clock,
  ) {}

  /** Attempts by this instance since its start. */
  get attempts(): { delivered: number; failed: number } {
    return this.worker.counts;
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.task.stop();
  }

  async refresh(): Promise<void> {
    const now = this.clock.now();
    const values = [new Date(now).toISOString()];
    const [row] = await this.database.run<MetricsRow>(METRICS, values);
    const { pending, oldest_due: due } = row!;
    this.pending = pending;
    this.oldestDueSeconds = due === null ? 0 : Math.max(0, (now - due.getTime()) / 1_000);
  }
}
