import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Clock, RepeatingTask } from '#libs/clock';
import { Database } from '#libs/database';
import { WebhookAdministration, deliveriesWhere } from '../webhook-administration';
import { SecretVault } from '../webhook-secrets';
import { DeliveryQueue, type Finished, type TakenDelivery } from './delivery-queue';
import { Allowances, type Attempt, isSuccess } from './schedule';
import { Sender } from './sender';

/** Concurrent deliveries of this process. Dead receivers hold one each, for 15 seconds. */
const MAX_UNDER_WAY = 1_000;
/** Claimed by one statement. */
const MAX_TAKEN = 500;
/** Due deliveries are found within this time; those made by this process immediately. */
const POLL_MS = 1_000;
/** How long a delivery waits when all connections to its host are in use, and up to twice as long. */
const BUSY_MS = 1_000;
/** How long shutdown waits for attempts in flight. */
const DRAIN_MS = 5_000;
const UNREADABLE = 'The signing secret cannot be decrypted. Rotate it.';

/** Sends due deliveries. One task writes outcomes and claims due deliveries, in batches; the attempts run concurrently. */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  /** Attempts since the start. */
  readonly counts = { delivered: 0, failed: 0 };
  private readonly allowances = new Allowances();
  private readonly underWay = new Map<TakenDelivery, Promise<void>>();
  private finished: Finished[] = [];
  private postponed: TakenDelivery[] = [];
  private readonly task = new RepeatingTask({
    name: 'Sending deliveries to webhooks',
    work: () => this.takeTurn(),
    everyMs: POLL_MS,
  });

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly webhooks: WebhookAdministration,
    private readonly sender: Sender,
    private readonly vault: SecretVault,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start();
    this.wake();
  }

  /** Looks for due deliveries now. */
  wake(): void {
    void this.task.runNow();
  }

  /** Claims nothing more, waits for attempts in flight, and releases those that take too long. */
  async onModuleDestroy(): Promise<void> {
    await this.task.stop();
    await Promise.race([Promise.all(this.underWay.values()), pause(DRAIN_MS, undefined, { ref: false })]);
    const unfinished = [...this.underWay.keys(), ...this.postponed.splice(0)];
    this.sender.close();
    const now = new Date(this.clock.now());
    await this.writeOutcomes(now).catch(() => undefined);
    // If the database is unavailable, the leases expire.
    await (unfinished.length > 0 ? this.queue.release(unfinished, now).catch(() => undefined) : undefined);
  }

  private async takeTurn(): Promise<void> {
    // Without a key nothing can be signed; an instance with a key will send.
    if (this.vault.fingerprint === undefined) {
      return;
    }
    const now = new Date(this.clock.now());
    await this.writeOutcomes(now);
    const most = Math.min(MAX_TAKEN, MAX_UNDER_WAY - this.underWay.size);
    if (most > 0) {
      const taken = await this.queue.take(now, most, this.allowances.freeByWebhook());
      taken.forEach((delivery) => this.underWay.set(delivery, this.attempt(delivery)));
    }
  }

  private async attempt(delivery: TakenDelivery): Promise<void> {
    this.allowances.begin(delivery.webhookId);
    const since = performance.now();
    const attempt = await this.send(delivery);
    const succeeded = isSuccess(attempt);
    this.allowances.end(delivery.webhookId, { succeeded, tookMs: performance.now() - since });
    this.underWay.delete(delivery);
    if (attempt.postponed) {
      this.postponed.push(delivery);
    } else {
      this.counts[succeeded ? 'delivered' : 'failed'] += 1;
      this.finished.push({ delivery, attempt });
    }
    this.wake();
  }

  /** Never rejects. */
  private async send(delivery: TakenDelivery): Promise<Attempt> {
    const now = new Date(this.clock.now());
    const { eventId, url, payload: body } = delivery;
    const signature = this.vault.sign(delivery, now);
    if (signature === undefined) {
      return { status: null, failure: UNREADABLE };
    }
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'petstore-webhooks/1.0',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    return this.sender.send({ url, headers, body });
  }

  /** If that fails, outcomes are written in the next turn; what was postponed is due when its lease ends. */
  private async writeOutcomes(now: Date): Promise<void> {
    const [finished, postponed] = [this.finished.splice(0), this.postponed.splice(0)];
    try {
      if (postponed.length > 0) {
        await this.queue.release(postponed, new Date(now.getTime() + BUSY_MS * (1 + Math.random())));
      }
      const unreachable = finished.length > 0 ? await this.queue.recordOutcomes(finished, now) : [];
      for (const { webhookId, reason } of unreachable) {
        await this.webhooks.disable(webhookId, reason);
      }
    } catch (error) {
      this.finished.unshift(...finished);
      throw error;
    }
  }
}

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
