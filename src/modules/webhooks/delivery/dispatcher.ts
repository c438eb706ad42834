import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, RepeatingTask } from '#libs/clock';
import { Database } from '#libs/database';
import { AuditTrail } from '../../audit';
import { EVENT_TYPES } from '../../events';
import { MAX_PENDING, switchWebhook } from '../webhook.entity';

/** How often new events are looked for, and how often pending deliveries are counted. */
const POLL_MS = 200;
const BACKLOG_MS = 5_000;
/** Events that a statement makes deliveries of, and deliveries that it makes, unless a single event has more. */
const MAX_EVENTS = 500;
const MAX_DELIVERIES = 5_000;
const BACKLOG_FULL = `More than ${MAX_PENDING} deliveries were pending.`;

/** A statement of its own: one that made deliveries as well would not see all events up to this end of the feed. */
const NEW_EVENTS = {
  text: `SELECT "end" FROM webhook_dispatch, feed_end() AS "end" WHERE position < "end"`,
};

/**
 * Makes deliveries of the next events up to the end `$2`, and moves the position; not if another instance does. The join is by
 * type, so that webhooks that do not get an event cost nothing.
 */
const DISPATCH = {
  text: `WITH turn AS (
      SELECT position FROM webhook_dispatch FOR UPDATE SKIP LOCKED
    ), subscriber AS MATERIALIZED (
      SELECT id, since, unnest(coalesce(string_to_array(types, ','), $1)) AS type FROM webhooks WHERE enabled
    ), next AS MATERIALIZED (
      SELECT position, id, type FROM events WHERE position > (SELECT position FROM turn) AND position <= $2
      ORDER BY position LIMIT greatest(1, least(${MAX_EVENTS},
        (SELECT ${MAX_DELIVERIES} / greatest(1, count(*)) FROM webhooks WHERE enabled)))
    ), made AS (
      INSERT INTO webhook_deliveries (webhook_id, position, event_id, type, status, attempts, due_at, created_at)
      SELECT subscriber.id, position, 'evt_' || replace(next.id::text, '-', ''), type, 'pending', 0, $3, $3
      FROM next JOIN subscriber USING (type) WHERE since < position ORDER BY position
    )
    UPDATE webhook_dispatch SET position = reached FROM (SELECT max(position) AS reached FROM next) AS made_of
    WHERE reached IS NOT NULL RETURNING reached < $2 AS "hasMore"`,
};

const FULL = {
  text: `SELECT id FROM webhooks WHERE enabled AND EXISTS (SELECT FROM webhook_deliveries
    WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at OFFSET ${MAX_PENDING} LIMIT 1)`,
};

const GIVE_UP = `UPDATE webhook_deliveries SET status = 'failed', error = $2
  WHERE webhook_id = $1 AND status = 'pending'`;

/**
 * Follows the feed and creates a delivery of each event for each subscribed webhook. Disables webhooks with too many. In SQL,
 * because TypeORM cannot insert what it selects.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly dispatching = new RepeatingTask({
    name: 'Making deliveries of events for webhooks',
    work: () => this.dispatch(),
    everyMs: POLL_MS,
  });
  private readonly counting = new RepeatingTask({
    name: 'Counting pending deliveries',
    work: () => this.disableFull(),
    everyMs: BACKLOG_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.dispatching.start();
    this.counting.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.dispatching.stop(), this.counting.stop()]);
  }

  private async dispatch(): Promise<void> {
    const [found] = await this.database.query<{ end: number }>(NEW_EVENTS);
    if (found === undefined) {
      return;
    }
    const values = [EVENT_TYPES, found.end, new Date(this.clock.now()).toISOString()];
    const [turn] = await this.database.query<{ hasMore: boolean }>(DISPATCH, values);
    if (turn?.hasMore) {
      void this.dispatching.runNow();
    }
  }

  /** Gives their pending deliveries up. */
  async disableFull(): Promise<void> {
    for (const { id } of await this.database.query<{ id: number }>(FULL)) {
      await this.database.transaction(async (transaction) => {
        const reason = `${BACKLOG_FULL} They were given up; the feed has their events.`;
        await switchWebhook(transaction, this.trail, id, false, reason);
        await transaction.query(GIVE_UP, [id, BACKLOG_FULL]);
      });
    }
  }
}
