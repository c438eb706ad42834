import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { SecretVault } from '../secret-vault';
import { Alarm } from './alarm';
import { Allowances, FIRST } from './allowances';
import { type Outcome, DeliveryQueue, type TakenDelivery } from './delivery-queue';
import { Receivers } from './receivers';
import { type Attempt, errorOf, isSuccess, pauseAfter } from './schedule';
import { Transmitter } from './transmitter';

/** Deliveries under way in this process: with dead receivers each holds one, for 15 seconds. */
const MAX_UNDER_WAY = 1_000;
/** Taken by one statement. */
const MAX_TAKEN = 500;
/** Longer than an attempt may take, with much to spare for a process that is busy. */
const LEASE_MS = 60_000;
/** What becomes due is noticed within this time; what this process is told of at once. */
const POLL_MS = 1_000;
/** How long attempts under way may take at shutdown. */
const DRAIN_MS = 5_000;

interface Finished {
  delivery: TakenDelivery;
  attempt: Attempt;
}

/**
 * Sends what is due. One loop enters what came of attempts and takes what is due, each by one statement for many; the
 * attempts themselves run beside it.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  /** Attempts since the start. */
  readonly counts = { delivered: 0, failed: 0 };
  private readonly logger = new Logger(DeliveryWorker.name);
  private readonly allowances = new Allowances(MAX_UNDER_WAY);
  private readonly alarm = new Alarm();
  private readonly underWay = new Set<TakenDelivery>();
  private finished: Finished[] = [];
  private loop: Promise<void> = Promise.resolve();
  private stopping = false;
  private isFailing = false;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly receivers: Receivers,
    private readonly transmitter: Transmitter,
    private readonly vault: SecretVault,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    // Without a key nothing can be signed; an instance that has one does it.
    if (this.vault.fingerprint !== undefined) {
      this.loop = this.run();
    }
  }

  /** There may be something due. */
  wake(): void {
    this.alarm.ring();
  }

  /** Takes nothing more, and waits for what is under way; what takes too long is given back. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.loop;
    const deadline = performance.now() + DRAIN_MS;
    while (this.underWay.size > 0 && performance.now() < deadline) {
      await this.alarm.wait(deadline - performance.now());
    }
    const unfinished = [...this.underWay];
    this.transmitter.close();
    const now = new Date(this.clock.now());
    await this.enter(now).catch(() => undefined);
    // Without the database, the lease ends by itself.
    await (unfinished.length > 0 ? this.queue.giveBack(unfinished, now).catch(() => undefined) : undefined);
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        await this.takeTurn();
        this.isFailing = false;
      } catch (error) {
        this.report(error);
        await this.alarm.wait(POLL_MS);
      }
      await this.alarm.wait(POLL_MS);
    }
  }

  private async takeTurn(): Promise<void> {
    const now = new Date(this.clock.now());
    await this.enter(now);
    const most = Math.min(MAX_TAKEN, this.allowances.free);
    if (most === 0 || this.stopping) {
      return;
    }
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const free = this.allowances.freeByWebhook();
    const taken = await this.queue.take({ now, leasedUntil, most, free, otherwise: FIRST });
    taken.forEach((delivery) => void this.attempt(delivery));
  }

  private async attempt(delivery: TakenDelivery): Promise<void> {
    this.underWay.add(delivery);
    this.allowances.begin(delivery.webhookId);
    const since = performance.now();
    const attempt = await this.transmitter.transmit(delivery);
    const succeeded = isSuccess(attempt);
    this.allowances.end(delivery.webhookId, { succeeded, tookMs: performance.now() - since });
    this.counts[succeeded ? 'delivered' : 'failed'] += 1;
    this.underWay.delete(delivery);
    this.finished.push({ delivery, attempt });
    this.wake();
  }

  /** What cannot be entered is entered with the next turn. */
  private async enter(now: Date): Promise<void> {
    const finished = this.finished;
    if (finished.length === 0) {
      return;
    }
    this.finished = [];
    try {
      const outcomes = finished.map(({ delivery, attempt }) => outcomeOf(delivery, attempt, now));
      await this.queue.finish(outcomes, now);
    } catch (error) {
      this.finished = [...finished, ...this.finished].slice(0, MAX_UNDER_WAY);
      throw error;
    }
    await this.receivers.learn(
      finished.map(({ delivery: { webhookId }, attempt }) => ({ webhookId, attempt })),
    );
  }

  /** Once until it works again. */
  private report(error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.logger.warn(`Webhook deliveries are held up; will retry: ${String(error)}`);
    }
  }
}

function outcomeOf(delivery: TakenDelivery, attempt: Attempt, now: Date): Outcome {
  const error = errorOf(attempt);
  const pauseMs = pauseAfter(delivery.attempts + 1, Math.random());
  const again = error !== null && pauseMs !== null;
  return {
    delivery,
    status: error === null ? 'delivered' : again ? 'pending' : 'failed',
    dueAt: again ? new Date(now.getTime() + pauseMs) : now,
    responseStatus: attempt.status,
    error,
  };
}
