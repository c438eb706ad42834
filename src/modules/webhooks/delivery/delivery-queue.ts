import { Injectable } from '@nestjs/common';
import { Database, int8ToNumber } from '#libs/database';
import type { KeptSecret } from '../webhook-secrets';

/** A delivery that this process has claimed. */
export interface TakenDelivery {
  id: number;
  webhookId: number;
  url: string;
  secrets: KeptSecret[];
  eventId: string;
  payload: string;
  attempts: number;
  /** End of the lease; it also identifies the attempt when its outcome is written. */
  leasedUntil: Date;
}

export interface Outcome {
  delivery: TakenDelivery;
  status: 'pending' | 'delivered' | 'failed';
  /** When it is due again. */
  dueAt: Date;
  responseStatus: number | null;
  error: string | null;
}

export interface Take {
  now: Date;
  leasedUntil: Date;
  most: number;
  /** How many may be taken, by webhook. */
  free: Record<number, number>;
  /** For webhooks without an entry in `free`. */
  otherwise: number;
}

/**
 * Claims due deliveries, oldest first, up to the allowance of each webhook. Finds the webhooks with pending deliveries by a
 * loose index scan, so that the size of any backlog does not matter. A claimed delivery becomes due again when its lease
 * ends, so that a process that dies loses nothing. Pending deliveries of deleted webhooks are removed on the way, some at a
 * time, because there may be very many.
 */
const TAKE = {
  text: `WITH RECURSIVE waiting (webhook_id) AS (
      (SELECT webhook_id FROM webhook_deliveries WHERE status = 'pending' ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next
        WHERE next.status = 'pending' AND next.webhook_id > waiting.webhook_id ORDER BY next.webhook_id LIMIT 1)
      FROM waiting WHERE waiting.webhook_id IS NOT NULL
    ), dropped AS (
      DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
        SELECT dead.id FROM waiting JOIN webhooks ON webhooks.id = waiting.webhook_id AND webhooks.deleted_at IS NOT NULL
        CROSS JOIN LATERAL (SELECT id FROM webhook_deliveries
          WHERE status = 'pending' AND webhook_id = waiting.webhook_id FOR UPDATE SKIP LOCKED) AS dead
        LIMIT 5000))
    ), taken AS MATERIALIZED (
      SELECT due.id, webhooks.url, webhooks.secrets FROM waiting
      JOIN webhooks ON webhooks.id = waiting.webhook_id AND webhooks.enabled
        AND (webhooks.paused_until IS NULL OR webhooks.paused_until <= $1)
      CROSS JOIN LATERAL (SELECT id, due_at FROM webhook_deliveries
        WHERE status = 'pending' AND webhook_id = waiting.webhook_id AND due_at <= $1
        ORDER BY due_at LIMIT coalesce(($3::jsonb ->> waiting.webhook_id::text)::int, $4::int)
        FOR UPDATE SKIP LOCKED) AS due
      ORDER BY due.due_at LIMIT $5
    )
    UPDATE webhook_deliveries AS delivery SET due_at = $2 FROM taken WHERE delivery.id = taken.id
    RETURNING delivery.id, delivery.webhook_id, taken.url, taken.secrets, delivery.event_id, delivery.payload, delivery.attempts`,
};

const FINISH = {
  text: `UPDATE webhook_deliveries AS delivery SET status = done.status, due_at = done.due_at,
      attempts = delivery.attempts + 1, last_attempt_at = $7, response_status = done.response_status, error = done.error
    FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::int[], $6::text[])
      AS done (id, leased_until, status, due_at, response_status, error)
    WHERE delivery.id = done.id AND delivery.status = 'pending' AND delivery.due_at = done.leased_until`,
};

const RELEASE = {
  text: `UPDATE webhook_deliveries AS delivery SET due_at = $3
    FROM unnest($1::bigint[], $2::timestamptz[]) AS held (id, leased_until)
    WHERE delivery.id = held.id AND delivery.status = 'pending' AND delivery.due_at = held.leased_until`,
};

interface TakenRow {
  id: string;
  webhook_id: string;
  url: string;
  secrets: string;
  event_id: string;
  payload: string;
  attempts: number;
}

/** Deliveries that are due, in the table that all instances share. */
@Injectable()
export class DeliveryQueue {
  constructor(private readonly database: Database) {}

  async take({ now, leasedUntil, most, free, otherwise }: Take): Promise<TakenDelivery[]> {
    const values = [now.toISOString(), leasedUntil.toISOString(), JSON.stringify(free), otherwise, most];
    const rows = await this.database.run<TakenRow>(TAKE, values);
    return rows.map((row) => ({
      id: int8ToNumber(row.id),
      webhookId: int8ToNumber(row.webhook_id),
      url: row.url,
      secrets: JSON.parse(row.secrets) as KeptSecret[],
      eventId: row.event_id,
      payload: row.payload,
      attempts: row.attempts,
      leasedUntil,
    }));
  }

  /** Writes outcomes. Skips deliveries whose lease has ended, because another process may have claimed them. */
  async finish(outcomes: readonly Outcome[], now: Date): Promise<void> {
    await this.database.run(FINISH, [
      outcomes.map(({ delivery }) => delivery.id),
      outcomes.map(({ delivery }) => delivery.leasedUntil.toISOString()),
      outcomes.map(({ status }) => status),
      outcomes.map(({ dueAt }) => dueAt.toISOString()),
      outcomes.map(({ responseStatus }) => responseStatus),
      outcomes.map(({ error }) => error),
      now.toISOString(),
    ]);
  }

  /** Makes unfinished deliveries due now. */
  async release(deliveries: readonly TakenDelivery[], now: Date): Promise<void> {
    await this.database.run(RELEASE, [
      deliveries.map(({ id }) => id),
      deliveries.map(({ leasedUntil }) => leasedUntil.toISOString()),
      now.toISOString(),
    ]);
  }
}
