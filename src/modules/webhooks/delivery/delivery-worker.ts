import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { RepeatingTask } from '#libs/background';
import { Clock } from '#libs/clock';
import { SecretVault } from '../webhook-secrets';
import { DeliveryQueue, type LeasedDelivery } from './delivery-queue';
import type { Attempt } from './retry-schedule';
import { Sender, deliveryHeaders } from './sender';

/**
 * A webhook is quick if its last attempt took at most this many milliseconds, otherwise slow. A webhook without an
 * attempt is slow. Quick and slow webhooks have separate limits, so that slow receivers do not delay deliveries to
 * quick receivers.
 */
const QUICK_MS = 1_000;
const EVENTS_POLL_MS = 200;
const DUE_POLL_MS = 500;
const IDLE_POLL_MS = 1_000;
const BACKLOG_POLL_MS = 5_000;
const EXPIRED_POLL_MS = 1_000;
const DRAIN_MS = 5_000;
const UNREADABLE = 'The signing secret cannot be decrypted. Rotate it.';
const BROKEN = 'The delivery could not be sent.';
const EXPIRED = 'The event is older than 30 days.';

@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  /** The metric has no label for the webhook, because Prometheus would keep a separate time series for each webhook. */
  readonly attempts = new Counter({
    name: 'petstore_webhook_attempts_total',
    help: 'Attempts of this instance to deliver an event to a webhook, by whether it was delivered or failed.',
    labelNames: ['result'],
    registers: [],
  });

  /** How many milliseconds an instance that stops waits for its attempts. */
  drainMs = DRAIN_MS;
  private readonly logger = new Logger('Webhooks');
  private isAnyEnabled = false;
  private isStopping = false;
  /** The attempts whose outcomes are not recorded yet. The key of an attempt is the delivery that it sends. */
  private readonly current = new Map<LeasedDelivery, Promise<void>>();
  private readonly sending = new RepeatingTask({
    name: 'Sending deliveries to webhooks',
    work: () => this.sendDue(),
    everyMs: () => (this.isAnyEnabled ? DUE_POLL_MS : IDLE_POLL_MS),
  });
  private readonly dispatching = new RepeatingTask({
    name: 'Making deliveries of events for webhooks',
    work: () => this.dispatch(),
    everyMs: () => (this.isAnyEnabled ? EVENTS_POLL_MS : IDLE_POLL_MS),
  });
  private readonly endingLeases = new RepeatingTask({
    name: 'Ending expired leases of deliveries',
    work: () => this.queue.endExpiredLeases(),
    everyMs: EXPIRED_POLL_MS,
  });
  private readonly limitingBacklogs = new RepeatingTask({
    name: 'Counting pending deliveries',
    work: () => this.queue.disableFull(),
    everyMs: BACKLOG_POLL_MS,
  });

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly sender: Sender,
    private readonly vault: SecretVault,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    ['delivered', 'failed'].forEach((result) => this.attempts.inc({ result }, 0));
    this.tasks().forEach((task) => task.start());
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    // Stop the tasks only after this wait. Until the current attempts end, the task `sending` has to renew their
    // leases.
    await Promise.race([this.attemptsEnd(), pause(this.drainMs, undefined, { ref: false })]);
    await Promise.all(this.tasks().map((task) => task.stop()));
    // Record the outcomes of finished attempts before the process ends. Ignore an error. If an outcome is not recorded,
    // the lease of the delivery expires, and another instance sends the delivery again.
    const last = { finished: this.finished(), sending: [], mayLease: false };
    await this.queue.recordAndLease(last).catch(() => undefined);
    this.sender.close();
  }

  private tasks(): RepeatingTask[] {
    return [this.dispatching, this.sending, this.endingLeases, this.limitingBacklogs];
  }

  private async dispatch(): Promise<void> {
    const { hasNew, isAnyEnabled, hasMore } = await this.queue.dispatch();
    this.isAnyEnabled = isAnyEnabled;
    if (hasNew) {
      this.sending.wake();
    }
    if (hasMore) {
      this.dispatching.wake();
    }
  }

  /**
   * Records the outcomes of finished attempts, and leases and starts due deliveries. If many webhooks have due
   * deliveries, one run starts only a few deliveries to each webhook, so another run follows at once. If a run fails,
   * its finished attempts stay in `current`, and the next run records their outcomes.
   */
  private async sendDue(): Promise<void> {
    const finished = this.finished();
    const sending = [...this.current.keys()].filter(({ attempt }) => attempt === undefined);
    sending.forEach((delivery) => (delivery.quick &&= this.isQuick(delivery)));
    // Without WEBHOOK_KEY, lease no deliveries, because this instance cannot sign the deliveries. Instances that have
    // the key send these deliveries.
    const mayLease = this.vault.key !== undefined && !this.isStopping;
    await this.queue.renewLeases([...this.current.keys()]);
    const { leased, hasMore } = await this.queue.recordAndLease({ finished, sending, mayLease });
    finished.forEach((delivery) => this.current.delete(delivery));
    leased.forEach((delivery) => this.current.set(delivery, this.attempt(delivery)));
    if (hasMore) {
      this.sending.wake();
    }
  }

  /** Waits for the current attempts, including the attempts that a run of `sending` is just starting. */
  private async attemptsEnd(): Promise<void> {
    await this.sending.runNow();
    await Promise.all(this.current.values());
  }

  private finished(): LeasedDelivery[] {
    return [...this.current.keys()].filter(({ attempt }) => attempt !== undefined);
  }

  private async attempt(delivery: LeasedDelivery): Promise<void> {
    delivery.startedAt = this.clock.now();
    const attempt = await this.send(delivery).catch((error: unknown) => {
      this.logger.error(`An attempt failed: ${String(error)}`);
      return { status: null, error: BROKEN };
    });
    delivery.attempt = { ...attempt, isQuick: this.isQuick(delivery) };
    this.attempts.inc({ result: attempt.error === null ? 'delivered' : 'failed' });
    this.sending.wake();
  }

  private isQuick({ startedAt }: LeasedDelivery): boolean {
    return this.clock.now() - startedAt! <= QUICK_MS;
  }

  private async send(delivery: LeasedDelivery): Promise<Attempt> {
    const { body } = delivery;
    if (body === null) {
      return { status: null, error: EXPIRED };
    }
    const now = new Date(this.clock.now());
    const signature = this.vault.sign(delivery, body, now);
    if (signature === undefined) {
      return { status: null, error: UNREADABLE };
    }
    const headers = deliveryHeaders(delivery.eventId, now, signature);
    return this.sender.send({ url: delivery.url, headers, body });
  }
}
