import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Alarm, Clock } from '#libs/clock';
import { SecretVault } from '../secret-vault';
import { Allowances, FIRST } from './allowances';
import { type Outcome, DeliveryQueue, type TakenDelivery } from './delivery-queue';
import { Receivers } from './receivers';
import { type Attempt, errorOf, isSuccess, pauseAfter } from './schedule';
import { Transmitter } from './transmitter';

/** Concurrent deliveries of this process. Dead receivers hold one each, for 15 seconds. */
const MAX_UNDER_WAY = 1_000;
/** Claimed by one statement. */
const MAX_TAKEN = 500;
/** Much longer than an attempt may take, in case the process is busy. */
const LEASE_MS = 60_000;
/** Due deliveries are found within this time; those made by this process immediately. */
const POLL_MS = 1_000;
/** How long shutdown waits for attempts in flight. */
const DRAIN_MS = 5_000;

interface Finished {
  delivery: TakenDelivery;
  attempt: Attempt;
}

/**
 * Sends due deliveries. One loop writes outcomes and claims due deliveries, in batches; the attempts run concurrently.
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
    // Without a key nothing can be signed; an instance with a key will send.
    if (this.vault.fingerprint !== undefined) {
      this.loop = this.run();
    }
  }

  /** Looks for due deliveries now. */
  wake(): void {
    this.alarm.ring();
  }

  /** Claims nothing more, waits for attempts in flight, and releases those that take too long. */
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
    await this.writeOutcomes(now).catch(() => undefined);
    // If the database is unavailable, the lease expires.
    await (unfinished.length > 0 ? this.queue.release(unfinished, now).catch(() => undefined) : undefined);
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
    await this.writeOutcomes(now);
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

  /** Writes outcomes; if that fails, they are written in the next turn. */
  private async writeOutcomes(now: Date): Promise<void> {
    const finished = this.finished;
    if (finished.length === 0) {
      return;
    }
    this.finished = [];
    try {
      // First, because it may be repeated: a delivery that is finished is not looked at again.
      await this.receivers.learn(
        finished.map(({ delivery: { webhookId }, attempt }) => ({ webhookId, attempt })),
      );
      const outcomes = finished.map(({ delivery, attempt }) => outcomeOf(delivery, attempt, now));
      await this.queue.finish(outcomes, now);
    } catch (error) {
      this.finished = [...finished, ...this.finished].slice(0, MAX_UNDER_WAY);
      throw error;
    }
  }

  /** Logs the first failure of a series only. */
  private report(error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.logger.warn(`Webhook deliveries are delayed; will retry: ${String(error)}`);
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
