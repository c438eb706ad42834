import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '#libs/database';
import type { KeptSecret } from '../webhook.entity';
import { type Attempt, DISABLED_AFTER_MS, errorOf, pauseAfter, slowDownMs } from './retry-schedule';

const GONE = 'The receiver responded 410 Gone.';
const DEAD = 'All deliveries failed for five days.';
/** Concurrent deliveries to a webhook after its first success; until then it is one. */
const AT_ONCE = 4;
/** Much longer than an attempt may take, in case the process is busy. */
const LEASE_MS = 60_000;

/** A delivery that is due, of a webhook that this process has leased. */
export interface DueDelivery {
  id: number;
  webhookId: number;
  url: string;
  secrets: KeptSecret[];
  eventId: string;
  type: string;
  /** The event's position in the feed; null for a test. */
  position: number | null;
  createdAt: Date;
  /** Before this one. */
  attempts: number;
}

/** A delivery that was attempted. */
export interface Finished {
  delivery: DueDelivery;
  attempt: Attempt;
}

/** Deliveries of a leased webhook that are due and not under way. */
const DUE = `webhook_deliveries WHERE webhook_id = leased.id AND status = 'pending' AND due_at <= $1 AND id <> ALL($4)`;

/**
 * Leases the webhooks with due deliveries, and returns these, oldest first, as many as each webhook may have at once. On
 * probation it is the first one that is due, so that a failed one is tried again before others. Finds the webhooks by a loose
 * index scan, so that the size of any backlog does not matter. The order is random, so that no webhook is always the last.
 */
const TAKE = {
  text: `WITH RECURSIVE waiting (webhook_id) AS (
      (SELECT webhook_id FROM webhook_deliveries WHERE status = 'pending' ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next
        WHERE next.status = 'pending' AND next.webhook_id > waiting.webhook_id ORDER BY next.webhook_id LIMIT 1)
      FROM waiting WHERE waiting.webhook_id IS NOT NULL
    ), leased AS (
      UPDATE webhooks SET sender = $2, leased_until = $3 WHERE id = ANY(ARRAY(
        SELECT id FROM webhooks AS leased
        WHERE id = ANY(ARRAY(SELECT webhook_id FROM waiting)) AND enabled
          AND (paused_until IS NULL OR paused_until <= $1)
          AND (proven OR probe_after IS NULL OR probe_after <= $1)
          AND (sender = $2 OR leased_until IS NULL OR leased_until <= $1)
          AND EXISTS (SELECT FROM ${DUE})
        FOR NO KEY UPDATE SKIP LOCKED))
      RETURNING id, url, secrets, proven,
        (SELECT count(*) FROM unnest($5::bigint[]) AS busy (id) WHERE busy.id = webhooks.id) AS under_way
    )
    SELECT due.id, leased.id AS "webhookId", leased.url, leased.secrets,
      due.event_id AS "eventId", due.type, due.position, due.created_at AS "createdAt", due.attempts
    FROM leased CROSS JOIN LATERAL (
      (SELECT * FROM ${DUE} AND leased.proven ORDER BY due_at LIMIT greatest(0, ${AT_ONCE} - under_way))
      UNION ALL
      (SELECT * FROM ${DUE} AND NOT leased.proven ORDER BY id LIMIT greatest(0, 1 - under_way))
    ) AS due
    ORDER BY random() LIMIT $6`,
};

/**
 * Writes what attempts mean for their deliveries and receivers, in ascending id, to avoid deadlocks. Skips deliveries that
 * have got another outcome meanwhile: the lease has ended, or the client has asked for a retry. A success of a healthy
 * receiver writes nothing to its webhook. An attempt at another URL than the present one says nothing of the receiver.
 */
const RECORD = {
  text: `WITH outcome AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1) AS outcome (id bigint, webhook bigint,
        url text, attempts int, status text, due timestamptz, answer int, error text, gone boolean, paused timestamptz)
    ), finished AS (
      UPDATE webhook_deliveries AS delivery SET status = outcome.status, due_at = outcome.due,
        attempts = delivery.attempts + 1, last_attempt_at = $2, response_status = outcome.answer, error = outcome.error
      FROM outcome
      WHERE delivery.id = outcome.id AND delivery.status = 'pending' AND delivery.attempts = outcome.attempts
    )
    UPDATE webhooks SET
      failing_since = CASE WHEN found.succeeded THEN NULL ELSE coalesce(webhooks.failing_since, $2) END,
      paused_until = greatest(webhooks.paused_until, found.paused),
      proven = webhooks.proven OR found.succeeded,
      probe_after = CASE WHEN webhooks.proven OR found.succeeded THEN NULL ELSE found.due END
    FROM (SELECT webhook, url, bool_or(status = 'delivered') AS succeeded, bool_or(gone) AS gone, max(paused) AS paused,
        max(due) AS due
      FROM outcome GROUP BY webhook, url ORDER BY webhook) AS found
    WHERE webhooks.id = found.webhook AND webhooks.url = found.url AND (NOT found.succeeded
      OR webhooks.failing_since IS NOT NULL OR found.gone OR found.paused IS NOT NULL OR NOT webhooks.proven)
    RETURNING webhooks.id, found.gone, webhooks.failing_since`,
};

const RELEASE = { text: `UPDATE webhooks SET leased_until = NULL WHERE sender = $1` };

interface RecordedRow {
  id: number;
  gone: boolean;
  failing_since: Date | null;
}

/** As the driver reports it. */
type DueRow = Omit<DueDelivery, 'secrets'> & { secrets: string };

/**
 * Deliveries that are due, in the table that all instances share. The deliveries of a webhook are sent by one instance, which
 * has leased it; when that dies, by another. In SQL, because the query builder knows neither a recursive walk, nor several
 * changes in one statement, nor rows with values of their own.
 */
@Injectable()
export class DeliveryQueue {
  /** Of this process. */
  private readonly sender = randomUUID();

  constructor(private readonly database: Database) {}

  /**
   * @param most how many are returned
   * @param underWay deliveries that this process is attempting
   */
  async take(now: Date, most: number, underWay: readonly DueDelivery[]): Promise<DueDelivery[]> {
    const until = new Date(now.getTime() + LEASE_MS).toISOString();
    const ids = underWay.map(({ id }) => id);
    const webhooks = underWay.map(({ webhookId }) => webhookId);
    const values = [now.toISOString(), this.sender, until, ids, webhooks, most];
    const rows = await this.database.run<DueRow>(TAKE, values);
    return rows.map((row) => ({ ...row, secrets: JSON.parse(row.secrets) as KeptSecret[] }));
  }

  /**
   * May be repeated after a failure.
   * @returns webhooks that must be disabled, and why
   */
  async recordOutcomes(
    finished: readonly Finished[],
    now: Date,
  ): Promise<{ webhookId: number; reason: string }[]> {
    const values = [JSON.stringify(finished.map((one) => outcomeOf(one, now))), now.toISOString()];
    const receivers = await this.database.run<RecordedRow>(RECORD, values);
    const deadSince = now.getTime() - DISABLED_AFTER_MS;
    return receivers
      .filter((row) => row.gone || (row.failing_since !== null && row.failing_since.getTime() <= deadSince))
      .map((row) => ({ webhookId: row.id, reason: row.gone ? GONE : DEAD }));
  }

  /** Ends the leases of this process. */
  async release(): Promise<void> {
    await this.database.run(RELEASE, [this.sender]);
  }
}

/** What an attempt means for its delivery and its receiver, as the statement reads it from JSON. */
function outcomeOf({ delivery, attempt }: Finished, now: Date) {
  const { id, webhookId, url, attempts } = delivery;
  const error = errorOf(attempt);
  const pauseMs = pauseAfter(attempts + 1, Math.random());
  const again = error !== null && pauseMs !== null;
  const slowMs = slowDownMs(attempt, now.getTime());
  return {
    id,
    webhook: webhookId,
    url,
    attempts,
    status: error === null ? 'delivered' : again ? 'pending' : 'failed',
    due: again ? new Date(now.getTime() + pauseMs) : now,
    answer: attempt.status,
    error,
    // The receiver wants no more events.
    gone: attempt.status === 410,
    // Until when its receiver wants nothing.
    paused: slowMs > 0 ? new Date(now.getTime() + slowMs) : null,
  };
}
