import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Clock, RepeatingTask } from '#libs/clock';
import { EventReader, type StoredEvent, toEventDto } from '../../events';
import { WebhookAdministration } from '../webhook-administration';
import { TEST_TYPE } from '../webhook.entity';
import { SecretVault } from '../webhook-secrets';
import { DeliveryQueue, type DueDelivery, type Finished } from './delivery-queue';
import { type Attempt, errorOf } from './retry-schedule';
import { Sender } from './sender';

/** Concurrent deliveries of this process. */
const MAX_UNDER_WAY = 1_000;
/** Claimed by one statement. */
const MAX_TAKEN = 500;
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
  private readonly underWay = new Map<DueDelivery, Promise<void>>();
  private finished: Finished[] = [];
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
    await this.task.stop();
    await Promise.race([Promise.all(this.underWay.values()), pause(DRAIN_MS, undefined, { ref: false })]);
    // If the database is unavailable, the leases expire.
    await this.writeOutcomes(new Date(this.clock.now()))
      .then(() => this.queue.release())
      .catch(() => undefined);
    this.sender.close();
  }

  private async takeTurn(): Promise<void> {
    // Without a key nothing can be signed; an instance with a key will send.
    if (this.vault.fingerprint === undefined) {
      return;
    }
    const now = new Date(this.clock.now());
    // Before outcomes are written: what ends meanwhile is not written yet, and would be taken again.
    const underWay = [...this.underWay.keys()];
    await this.writeOutcomes(now);
    const most = Math.min(MAX_TAKEN, MAX_UNDER_WAY - underWay.length);
    const due = most > 0 ? await this.queue.take(now, most, underWay) : [];
    if (due.length === 0) {
      return;
    }
    const events = await this.events.at(due.flatMap(({ position }) => position ?? []));
    const byPosition = new Map(events.map((event) => [event.position, event]));
    due.forEach((delivery) =>
      this.underWay.set(delivery, this.attempt(delivery, byPosition.get(delivery.position!))),
    );
  }

  private async attempt(delivery: DueDelivery, event?: StoredEvent): Promise<void> {
    const attempt = await this.send(delivery, bodyOf(delivery, event));
    this.underWay.delete(delivery);
    this.counts[errorOf(attempt) === null ? 'delivered' : 'failed'] += 1;
    this.finished.push({ delivery, attempt });
    this.wake();
  }

  /** Never rejects. */
  private async send(delivery: DueDelivery, body: string | undefined): Promise<Attempt> {
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
  private async writeOutcomes(now: Date): Promise<void> {
    const finished = this.finished.splice(0);
    try {
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

/** The same text at every attempt. Undefined if the event has expired. */
function bodyOf(delivery: DueDelivery, event?: StoredEvent): string | undefined {
  const { eventId: id, type, createdAt, webhookId } = delivery;
  if (type === TEST_TYPE) {
    return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), data: { webhookId } });
  }
  return event && JSON.stringify(toEventDto(event));
}
