import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, RepeatingTask } from '#libs/clock';
import { CommandExecutor, Database, type Transaction } from '#libs/database';
import { EVENT_TYPES } from '../../events';
import { WebhookAdministration } from '../webhook-administration';
import { MAX_PENDING } from '../webhook.entity';
import { DeliveryWorker } from './delivery-worker';

const POLL_MS = 1_000;
/** How long events of this process wait for others, to be dispatched together. */
const GATHER_MS = 50;
/** How often pending deliveries are counted. */
const BACKLOG_MS = 5_000;
/** Events that a transaction makes deliveries of, and deliveries that it makes, unless a single event has more. */
const MAX_EVENTS = 500;
const MAX_DELIVERIES = 5_000;
const BACKLOG_FULL = `More than ${MAX_PENDING} deliveries were pending.`;

const HAS_NEW = { text: 'SELECT FROM webhook_dispatch WHERE position < feed_end()' };

/** One instance at a time makes deliveries. */
const LOCK = `SELECT position, feed_end() AS "end", (SELECT count(*) FROM webhooks WHERE enabled) AS webhooks
  FROM webhook_dispatch FOR UPDATE SKIP LOCKED`;

/** The join is by type, so that webhooks that do not get an event cost nothing. */
const DISPATCH = `WITH subscriber AS MATERIALIZED (
    SELECT id, since, unnest(coalesce(string_to_array(types, ','), $1)) AS type FROM webhooks WHERE enabled
  ), next AS MATERIALIZED (
    SELECT position, id, type FROM events WHERE position > $2 AND position <= $3 ORDER BY position LIMIT $4
  ), made AS (
    INSERT INTO webhook_deliveries (webhook_id, position, event_id, type, status, attempts, due_at, created_at)
    SELECT subscriber.id, position, 'evt_' || replace(next.id::text, '-', ''), type, 'pending', 0, $5, $5
    FROM next JOIN subscriber USING (type) WHERE since < position ORDER BY position
  )
  UPDATE webhook_dispatch SET position = reached
  FROM (SELECT max(position) AS reached, count(*) = $4 AS has_more FROM next) AS turn
  WHERE reached IS NOT NULL RETURNING has_more`;

const FULL = {
  text: `SELECT id FROM webhooks WHERE enabled AND EXISTS (SELECT FROM webhook_deliveries
    WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at OFFSET ${MAX_PENDING} LIMIT 1)`,
};

const GIVE_UP = {
  text: `UPDATE webhook_deliveries SET status = 'failed', error = $2 WHERE id = ANY(ARRAY(
      SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending' FOR UPDATE SKIP LOCKED))`,
};

/**
 * Follows the feed and creates a delivery of each event for each subscribed webhook; the position moves in the transaction of
 * the deliveries. Disables webhooks with too many. In SQL, because TypeORM cannot insert what it selects.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private isStopping = false;
  /** What the last turn found. */
  private hasWebhooks = false;
  private timer?: NodeJS.Timeout;
  private readonly dispatching = new RepeatingTask({
    name: 'Making deliveries of events for webhooks',
    work: () => this.takeTurn(),
    everyMs: POLL_MS,
  });
  private readonly counting = new RepeatingTask({
    name: 'Counting pending deliveries',
    work: () => this.disableFull(),
    everyMs: BACKLOG_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly webhooks: WebhookAdministration,
    private readonly worker: DeliveryWorker,
    private readonly clock: Clock,
    private readonly commands: CommandExecutor,
  ) {}

  onApplicationBootstrap(): void {
    this.commands.onAppended = () => this.wake();
    this.dispatching.start();
    this.counting.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await Promise.all([this.dispatching.stop(), this.counting.stop()]);
  }

  /** This process has written events: they need not wait for the next turn. */
  private wake(): void {
    if (this.hasWebhooks) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.dispatching.runNow();
      }, GATHER_MS).unref();
    }
  }

  private async takeTurn(): Promise<void> {
    const found = await this.database.query(HAS_NEW);
    for (let hasMore = found.length > 0; hasMore && !this.isStopping; ) {
      hasMore = await this.database.transaction((transaction) => this.dispatch(transaction));
      this.worker.wake();
    }
  }

  /** @returns whether there are more events */
  private async dispatch(transaction: Transaction): Promise<boolean> {
    const [turn] = await transaction.query<{ position: number; end: number; webhooks: number }[]>(LOCK);
    if (turn === undefined) {
      return false;
    }
    this.hasWebhooks = turn.webhooks > 0;
    const most = Math.floor(MAX_DELIVERIES / Math.max(1, turn.webhooks));
    const events = Math.max(1, Math.min(most, MAX_EVENTS));
    const values = [EVENT_TYPES, turn.position, turn.end, events, new Date(this.clock.now()).toISOString()];
    const [rows] = await transaction.query<[{ has_more: boolean }[]]>(DISPATCH, values);
    return rows[0]?.has_more ?? false;
  }

  private async disableFull(): Promise<void> {
    for (const { id } of await this.database.query<{ id: number }>(FULL)) {
      // In this order: after a crash in between, a disabled webhook would keep its backlog.
      await this.database.query(GIVE_UP, [id, BACKLOG_FULL]);
      await this.webhooks.disable(id, `${BACKLOG_FULL} They were given up; the feed has their events.`);
    }
  }
}
