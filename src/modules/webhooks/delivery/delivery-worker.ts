import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Clock, RepeatingTask } from '#libs/clock';
import { EventReader, type StoredEvent, toEventDto } from '../../events';
import { WebhookAdministration } from '../webhook-administration';
import { TEST_TYPE } from '../webhook.entity';
import { SecretVault } from '../webhook-secrets';
import {
  type StartedDelivery,
  DeliveryQueue,
  type FinishedDelivery,
  type LeasedDelivery,
} from './delivery-queue';
import { type Attempt, errorOf } from './retry-schedule';
import { Sender } from './sender';

/** An attempt that takes longer is not quick. */
const QUICK_MS = 1_000;
/** Due deliveries are found within this time; those made by this process immediately. */
const POLL_MS = 1_000;
/** How long shutdown waits for attempts in flight. */
const DRAIN_MS = 5_000;
const UNREADABLE = 'The signing secret cannot be decrypted. Rotate it.';
const EXPIRED = 'The event is older than 30 days.';

/** Sends due deliveries. One task writes outcomes and takes due deliveries, in batches; the attempts run concurrently. */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  /** Attempts since the start. */
  readonly counts = { delivered: 0, failed: 0 };
  /** With the ends of their attempts. Until its outcome is written, a delivery is not taken again. */
  private readonly started = new Map<StartedDelivery, Promise<void>>();
  private isStopping = false;
  private readonly task = new RepeatingTask({
    name: 'Sending deliveries to webhooks',
    work: () => this.takeTurn(),
    everyMs: POLL_MS,
  });

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly events: EventReader,
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

  /** Takes nothing more, waits for attempts in flight, and leaves those that take too long to other instances. */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await this.task.stop();
    await Promise.race([Promise.all(this.started.values()), pause(DRAIN_MS, undefined, { ref: false })]);
    // If the database is unavailable, the leases expire.
    await this.writeOutcomes().catch(() => undefined);
    this.sender.close();
  }

  /** Each webhook gets one delivery at a time, until none may have another. */
  private async takeTurn(): Promise<void> {
    let count = 1;
    while (count > 0 && !this.isStopping) {
      await this.writeOutcomes();
      count = await this.begin();
    }
  }

  private async begin(): Promise<number> {
    // Without a key nothing can be signed; an instance with a key will send.
    if (this.vault.fingerprint === undefined) {
      return 0;
    }
    const leased = await this.queue.take(new Date(this.clock.now()), [...this.started.keys()]);
    const positions = leased.flatMap(({ position }) => position ?? []);
    const events = positions.length === 0 ? [] : await this.events.at(positions);
    const byPosition = new Map(events.map((event) => [event.position, event]));
    for (const delivery of leased) {
      const started: StartedDelivery = { delivery, quick: delivery.quick };
      this.started.set(started, this.attempt(started, byPosition.get(delivery.position!)));
    }
    return leased.length;
  }

  private async attempt(started: StartedDelivery, event?: StoredEvent): Promise<void> {
    const { delivery } = started;
    const since = this.clock.now();
    const cancelSlowMark = this.clock.later(QUICK_MS, () => (started.quick = false));
    started.attempt = await this.send(delivery, bodyOf(delivery, event));
    cancelSlowMark();
    started.quick = this.clock.now() - since <= QUICK_MS;
    this.counts[errorOf(started.attempt) === null ? 'delivered' : 'failed'] += 1;
    this.wake();
  }

  /** Never rejects. */
  private async send(delivery: LeasedDelivery, body: string | undefined): Promise<Attempt> {
    if (body === undefined) {
      return { status: null, failure: EXPIRED };
    }
    const now = new Date(this.clock.now());
    const signature = this.vault.sign(delivery, body, now);
    if (signature === undefined) {
      return { status: null, failure: UNREADABLE };
    }
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'petstore-webhooks/1.0',
      'webhook-id': delivery.eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    return this.sender.send({ url: delivery.url, headers, body });
  }

  /** If that fails, outcomes are written in the next turn. */
  private async writeOutcomes(): Promise<void> {
    const finished = [...this.started.keys()].filter(
      (one): one is FinishedDelivery => one.attempt !== undefined,
    );
    if (finished.length === 0) {
      return;
    }
    const lost = await this.queue.recordOutcomes(finished, new Date(this.clock.now()));
    finished.forEach((one) => this.started.delete(one));
    for (const { webhookId, reason, applies } of lost) {
      await this.webhooks.disable(webhookId, reason, applies);
    }
  }
}

/** The same text at every attempt. Undefined if the event has expired. */
function bodyOf(delivery: LeasedDelivery, event?: StoredEvent): string | undefined {
  const { eventId: id, type, createdAt, webhookId } = delivery;
  if (type === TEST_TYPE) {
    return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), data: { webhookId } });
  }
  return event && JSON.stringify(toEventDto(event));
}
