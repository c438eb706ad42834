import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, RepeatingTask } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import {
  EVENT_TYPES,
  EventReader,
  type EventType,
  type StoredEvent,
  toEventDto,
} from '../../events';
import { WebhookAdministration, deliveriesWhere } from '../webhook-administration';
import { BACKLOG_FULL, DispatchPosition, MAX_PENDING } from '../webhook.entity';
import { DeliveryQueue } from './delivery-queue';
import { DeliveryWorker } from './delivery-worker';

/** Maximum deliveries that one transaction creates, unless a single event has more, and events that it reads. */
const MAX_DELIVERIES = 5_000;
const MAX_EVENTS = 500;
const POLL_MS = 1_000;
/** Counts of pending deliveries are trusted for this long. Meanwhile only tests and retries of the client can add to them. */
const COUNTS_KEPT_MS = 60_000;

/** Enabled webhooks, once for each type that they get: the join with events by type is then as cheap as its result. */
const SUBSCRIBERS = `(SELECT id, since, unnest(coalesce(string_to_array(types, ','), $1)) AS type
  FROM webhooks WHERE enabled) AS subscriber`;

/** SQL, because TypeORM has no rows made by a function. Null without webhooks. */
const SUBSCRIBED = `SELECT array_agg(type) AS types, max(count)::int AS most
  FROM (SELECT type, count(*) FROM ${SUBSCRIBERS} GROUP BY type) AS subscribed`;

/** SQL, because TypeORM cannot insert what it selects. @returns how many deliveries were made, by webhook */
const DISPATCH = `WITH made AS (INSERT INTO webhook_deliveries
      (webhook_id, event_id, type, payload, status, attempts, due_at, created_at)
    SELECT subscriber.id, event.id, event.type, event.payload, 'pending', 0, $2, $2
    FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[]) AS event (id, type, payload, position)
    JOIN ${SUBSCRIBERS} ON subscriber.type = event.type AND subscriber.since < event.position
    ORDER BY event.position
    RETURNING webhook_id)
  SELECT webhook_id AS id, count(*)::int AS count FROM made GROUP BY webhook_id`;

/** SQL, because each count ends at its own limit, and TypeORM would send a statement for each webhook. */
const COUNT = `SELECT asked.id, ${deliveriesWhere(`webhook_id = asked.id AND status = 'pending'`, MAX_PENDING + 1)} AS count
  FROM unnest($1::bigint[]) AS asked (id)`;

interface SubscribedRow {
  /** Those that some webhook gets. */
  types: EventType[] | null;
  /** How many webhooks get the type that most of them get. */
  most: number | null;
}

interface CountRow {
  id: string;
  count: number;
}

interface Turn {
  hasMore: boolean;
  /** Webhooks with more pending deliveries than allowed. */
  full: number[];
}

const NOTHING: Turn = { hasMore: false, full: [] };

/**
 * Follows the feed and creates a delivery of each event for each subscribed webhook. One instance at a time does so: the one
 * that holds the lock on the position's row. The position moves in the transaction of the deliveries.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private isStopping = false;
  /** How many more deliveries a webhook may get before they are counted again, and up to which position that is known. */
  private room = new Map<number, number>();
  private roomAt?: number;
  private roomSince = 0;
  private readonly task = new RepeatingTask({
    name: 'Making deliveries of events for webhooks',
    work: () => this.takeTurn(),
    everyMs: POLL_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly events: EventReader,
    private readonly queue: DeliveryQueue,
    private readonly webhooks: WebhookAdministration,
    private readonly worker: DeliveryWorker,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await this.task.stop();
  }

  private async takeTurn(): Promise<void> {
    for (let more = true; more && !this.isStopping; ) {
      const { hasMore, full } = await this.database.transaction((transaction) => this.dispatch(transaction));
      this.worker.wake();
      for (const id of full) {
        // In this order: after a crash in between, a disabled webhook would keep its backlog.
        await this.queue.giveUp(id);
        await this.webhooks.disable(id, `${BACKLOG_FULL} They were given up; the feed has their events.`);
      }
      more = hasMore;
    }
  }

  private async dispatch(transaction: Transaction): Promise<Turn> {
    const dispatched = await transaction.findOne(DispatchPosition, {
      where: { one: true },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
    if (dispatched === null) {
      return NOTHING;
    }
    const { position } = dispatched;
    // Read before the webhooks: a webhook created later must not get these events.
    const { position: end } = await this.events.end();
    if (end <= position) {
      return NOTHING;
    }
    const [subscribed] = await transaction.query<SubscribedRow[]>(SUBSCRIBED, [EVENT_TYPES]);
    const { types, most } = subscribed!;
    let reached = end;
    let full: number[] = [];
    if (types !== null) {
      const events = Math.max(1, Math.min(MAX_EVENTS, Math.floor(MAX_DELIVERIES / most!)));
      const page = await this.events.after({ position }, { type: types }, events);
      reached = Math.min(end, page.reached.position);
      const found = page.events.filter((event) => event.position <= end);
      full = await this.makeDeliveries(transaction, found, position);
      this.roomAt = reached;
    }
    await transaction.update(DispatchPosition, { one: true }, { position: reached });
    return { hasMore: reached < end, full };
  }

  /** @returns webhooks that now have more pending deliveries than allowed */
  private async makeDeliveries(
    transaction: Transaction,
    events: readonly StoredEvent[],
    position: number,
  ): Promise<number[]> {
    const sent = events.map(toEventDto);
    const made = await transaction.query<CountRow[]>(DISPATCH, [
      EVENT_TYPES,
      new Date(this.clock.now()).toISOString(),
      sent.map(({ id }) => id),
      sent.map(({ type }) => type),
      sent.map((event) => JSON.stringify(event)),
      events.map((event) => event.position),
    ]);
    const isOld = performance.now() - this.roomSince > COUNTS_KEPT_MS;
    if (isOld || position !== this.roomAt) {
      // Another instance has made deliveries since, or this is the first turn.
      this.room = new Map();
      this.roomSince = performance.now();
    }
    made.forEach(({ id, count }) => this.room.set(Number(id), (this.room.get(Number(id)) ?? 0) - count));
    // Counting ten thousand for each webhook and turn would delay everybody's.
    const unsure = made.map(({ id }) => Number(id)).filter((id) => this.room.get(id)! < 0);
    const counted = unsure.length === 0 ? [] : await transaction.query<CountRow[]>(COUNT, [unsure]);
    counted.forEach(({ id, count }) => this.room.set(Number(id), MAX_PENDING - count));
    return unsure.filter((id) => this.room.get(id)! < 0);
  }
}
