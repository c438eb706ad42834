import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Alarm, Clock } from '#libs/clock';
import { Database, type Transaction, int8ToNumber } from '#libs/database';
import { EventReader, EventTail, toEventDto } from '../../events';
import { DeliveryWorker } from './delivery-worker';

/** Maximum deliveries that one transaction creates, and events that it reads. */
const MAX_DELIVERIES = 5_000;
const MAX_EVENTS = 500;
/** Events without a notification are found within this time. */
const POLL_MS = 1_000;
/** Minimum pause between two turns, to batch events under constant writes; longer without webhooks. */
const PAUSE_MS = 50;
const IDLE_PAUSE_MS = 1_000;

const DISPATCH = `INSERT INTO webhook_deliveries
    (webhook_id, event_id, type, payload, status, attempts, due_at, created_at)
  SELECT webhooks.id, event.id, event.type, event.payload, 'pending', 0, $4, $4
  FROM unnest($1::text[], $2::text[], $3::text[], $5::bigint[]) AS event (id, type, payload, position)
  JOIN webhooks ON webhooks.enabled AND webhooks.since < event.position
    AND (webhooks.types IS NULL OR event.type = ANY(string_to_array(webhooks.types, ',')))
  ORDER BY event.position`;

/**
 * Follows the feed and creates a delivery of each event for each subscribed webhook. One instance at a time does so: the one
 * that holds the lock on the position's row. The position moves in the transaction of the deliveries.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Dispatcher.name);
  private readonly alarm = new Alarm();
  private loop: Promise<void> = Promise.resolve();
  private readonly stop = new AbortController();
  private isFailing = false;
  private pauseMs = PAUSE_MS;

  constructor(
    private readonly database: Database,
    private readonly events: EventReader,
    private readonly tail: EventTail,
    private readonly worker: DeliveryWorker,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.tail.onNews(() => this.alarm.ring());
    this.loop = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    this.alarm.ring();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.stop.signal.aborted) {
      await this.takeTurn();
      await pause(this.pauseMs, undefined, { signal: this.stop.signal }).catch(() => undefined);
      await this.alarm.wait(POLL_MS);
    }
  }

  private async takeTurn(): Promise<void> {
    try {
      while (
        !this.stop.signal.aborted &&
        (await this.database.transaction((transaction) => this.dispatch(transaction)))
      ) {
        this.worker.wake();
      }
      this.worker.wake();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) {
        this.isFailing = true;
        this.logger.warn(`Events are not dispatched to webhooks; will retry: ${String(error)}`);
      }
    }
  }

  /** @returns whether more events wait */
  private async dispatch(transaction: Transaction): Promise<boolean> {
    const [row] = await transaction.query<{ position: string }[]>(
      `SELECT position FROM webhook_dispatch WHERE one FOR UPDATE SKIP LOCKED`,
    );
    if (row === undefined) {
      return false;
    }
    const position = int8ToNumber(row.position);
    // Read before the webhooks: a webhook created later must not get these events.
    const end = await this.events.end();
    if (end <= position) {
      return false;
    }
    const [{ webhooks } = { webhooks: 0 }] = await transaction.query<{ webhooks: number }[]>(
      `SELECT count(*)::int AS webhooks FROM (SELECT FROM webhooks WHERE enabled LIMIT ${MAX_DELIVERIES}) AS counted`,
    );
    this.pauseMs = webhooks === 0 ? IDLE_PAUSE_MS : PAUSE_MS;
    const reached = webhooks === 0 ? end : await this.makeDeliveries(transaction, position, webhooks);
    await transaction.query(`UPDATE webhook_dispatch SET position = $1 WHERE one`, [reached]);
    return reached < end;
  }

  /** @returns the position of the last event that was dispatched */
  private async makeDeliveries(
    transaction: Transaction,
    position: number,
    webhooks: number,
  ): Promise<number> {
    const most = Math.max(1, Math.min(MAX_EVENTS, Math.floor(MAX_DELIVERIES / webhooks)));
    const { events, reached } = await this.events.after(position, {}, most);
    const sent = events.map(toEventDto);
    await transaction.query(DISPATCH, [
      sent.map(({ id }) => id),
      sent.map(({ type }) => type),
      sent.map((event) => JSON.stringify(event)),
      new Date(this.clock.now()).toISOString(),
      events.map((event) => event.position),
    ]);
    return reached;
  }
}
