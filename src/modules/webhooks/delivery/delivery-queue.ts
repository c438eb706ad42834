import { Injectable } from '@nestjs/common';
import { Database, int8ToNumber } from '#libs/database';
import { BACKLOG_FULL, type KeptSecret } from '../webhook.entity';
import { type Attempt, DISABLED_AFTER_MS, FIRST, errorOf, isGone, pauseAfter, slowDownMs } from './schedule';

const GONE = 'The receiver responded 410 Gone.';
/** Much longer than an attempt may take, in case the process is busy. */
const LEASE_MS = 60_000;
const DEAD = 'All deliveries failed for five days.';

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

/** A delivery that was attempted. */
export interface Finished {
  delivery: TakenDelivery;
  attempt: Attempt;
}

/**
 * Claims due deliveries, oldest first, up to the allowance of each webhook. A webhook on probation gets one at a time, of all
 * instances: its row has a lease as well. It is the first one that is due, so that a failed one is tried again before
 * others. Finds the webhooks with pending deliveries by a loose index scan, so that the size of any backlog does not matter.
 * A claimed delivery becomes due again when its lease ends, so that a process that dies loses nothing. Pending deliveries of
 * deleted webhooks are removed on the way, some at a time, because there may be very many.
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
    ), ready AS MATERIALIZED (
      SELECT webhooks.id, webhooks.url, webhooks.secrets, webhooks.proven FROM waiting
      JOIN webhooks ON webhooks.id = waiting.webhook_id AND webhooks.enabled
        AND (webhooks.paused_until IS NULL OR webhooks.paused_until <= $1)
    ), probation AS MATERIALIZED (
      SELECT id FROM webhooks WHERE id = ANY(ARRAY(SELECT id FROM ready WHERE NOT proven)) AND NOT proven
        AND (probing_until IS NULL OR probing_until <= $1) AND (probe_after IS NULL OR probe_after <= $1)
      FOR NO KEY UPDATE SKIP LOCKED
    ), taken AS MATERIALIZED (
      SELECT due.id, ready.id AS webhook_id, ready.url, ready.secrets, ready.proven FROM ready
      CROSS JOIN LATERAL (
        SELECT * FROM (SELECT id, due_at FROM webhook_deliveries
          WHERE ready.proven AND status = 'pending' AND webhook_id = ready.id AND due_at <= $1
          ORDER BY due_at LIMIT coalesce(($3::jsonb ->> ready.id::text)::int, ${FIRST})
          FOR UPDATE SKIP LOCKED) AS oldest
        UNION ALL
        SELECT * FROM (SELECT id, due_at FROM webhook_deliveries
          WHERE ready.id IN (SELECT id FROM probation) AND status = 'pending' AND webhook_id = ready.id AND due_at <= $1
          ORDER BY id LIMIT 1
          FOR UPDATE SKIP LOCKED) AS first
      ) AS due
      ORDER BY due.due_at LIMIT $4
    ), probing AS (
      UPDATE webhooks SET probing_until = $2 FROM taken WHERE webhooks.id = taken.webhook_id AND NOT taken.proven
    )
    UPDATE webhook_deliveries AS delivery SET due_at = $2 FROM taken WHERE delivery.id = taken.id
    RETURNING delivery.id, delivery.webhook_id AS "webhookId", taken.url, taken.secrets, delivery.event_id AS "eventId",
      delivery.payload, delivery.attempts`,
};

/**
 * In ascending id, to avoid deadlocks. A success of a healthy receiver writes nothing. What an attempt at another URL than
 * the present one says about a probation does not count.
 */
const RECORD = {
  text: `UPDATE webhooks SET
      failing_since = CASE WHEN found.succeeded THEN NULL ELSE coalesce(webhooks.failing_since, $2) END,
      paused_until = greatest(webhooks.paused_until, found.paused),
      proven = webhooks.proven OR coalesce(webhooks.url = ANY(found.proved), false),
      probing_until = CASE WHEN webhooks.probing_until = ANY(found.leases) THEN NULL ELSE webhooks.probing_until END,
      probe_after = CASE WHEN webhooks.proven OR found.succeeded THEN NULL
        WHEN webhooks.url = ANY(found.urls) THEN found.due ELSE webhooks.probe_after END
    FROM (SELECT webhook, bool_or(status = 'delivered') AS succeeded, bool_or(gone) AS gone, max(paused) AS paused,
        max(due) AS due, array_agg(url) AS urls, array_agg(url) FILTER (WHERE status = 'delivered') AS proved,
        array_agg(lease) AS leases
      FROM jsonb_to_recordset($1) AS outcome
        (webhook bigint, url text, lease timestamptz, status text, due timestamptz, gone boolean, paused timestamptz)
      GROUP BY webhook ORDER BY webhook) AS found
    WHERE webhooks.id = found.webhook AND (NOT found.succeeded OR webhooks.failing_since IS NOT NULL OR found.gone
      OR found.paused IS NOT NULL OR NOT webhooks.proven)
    RETURNING webhooks.id, found.gone, webhooks.failing_since`,
};

const FINISH = {
  text: `UPDATE webhook_deliveries AS delivery SET status = outcome.status, due_at = outcome.due,
      attempts = delivery.attempts + 1, last_attempt_at = $2, response_status = outcome.answer, error = outcome.error
    FROM jsonb_to_recordset($1) AS outcome
      (id bigint, lease timestamptz, status text, due timestamptz, answer int, error text)
    WHERE delivery.id = outcome.id AND delivery.status = 'pending' AND delivery.due_at = outcome.lease`,
};

const RELEASE = {
  text: `WITH held AS (SELECT * FROM jsonb_to_recordset($1) AS held (id bigint, "webhookId" bigint, "leasedUntil" timestamptz)),
    released AS (UPDATE webhook_deliveries AS delivery SET due_at = $2 FROM held
      WHERE delivery.id = held.id AND delivery.status = 'pending' AND delivery.due_at = held."leasedUntil")
    UPDATE webhooks SET probing_until = NULL FROM held
    WHERE webhooks.id = held."webhookId" AND webhooks.probing_until = held."leasedUntil"`,
};

const GIVE_UP = {
  text: `UPDATE webhook_deliveries SET status = 'failed', error = $2 WHERE id = ANY(ARRAY(
      SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending' FOR UPDATE SKIP LOCKED))`,
};

interface RecordedRow {
  id: string;
  gone: boolean;
  failing_since: Date | null;
}

/** As the driver reports it. */
type TakenRow = Record<'id' | 'webhookId' | 'secrets', string> &
  Pick<TakenDelivery, 'url' | 'eventId' | 'payload' | 'attempts'>;

/**
 * Deliveries that are due, in the table that all instances share. In SQL, because the query builder knows neither a recursive
 * walk, nor several changes in one statement, nor rows with values of their own.
 */
@Injectable()
export class DeliveryQueue {
  constructor(private readonly database: Database) {}

  /**
   * @param most how many are claimed
   * @param free how many of them by webhook; `FIRST` for one without an entry
   */
  async take(now: Date, most: number, free: Record<number, number>): Promise<TakenDelivery[]> {
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const values = [now.toISOString(), leasedUntil.toISOString(), JSON.stringify(free), most];
    const rows = await this.database.run<TakenRow>(TAKE, values);
    return rows.map((row) => ({
      ...row,
      id: int8ToNumber(row.id),
      webhookId: int8ToNumber(row.webhookId),
      secrets: JSON.parse(row.secrets) as KeptSecret[],
      leasedUntil,
    }));
  }

  /**
   * Writes what attempts mean for their deliveries and receivers. May be repeated after a failure. Skips deliveries whose
   * lease has ended, because another process may have claimed them.
   * @returns webhooks that must be disabled, and why
   */
  async recordOutcomes(
    finished: readonly Finished[],
    now: Date,
  ): Promise<{ webhookId: number; reason: string }[]> {
    const values = [JSON.stringify(finished.map((one) => outcomeOf(one, now))), now.toISOString()];
    // First, because it may be repeated: a delivery that is finished is not looked at again.
    const receivers = await this.database.run<RecordedRow>(RECORD, values);
    await this.database.run(FINISH, values);
    const deadSince = now.getTime() - DISABLED_AFTER_MS;
    return receivers
      .filter((row) => row.gone || (row.failing_since !== null && row.failing_since.getTime() <= deadSince))
      .map((row) => ({ webhookId: int8ToNumber(row.id), reason: row.gone ? GONE : DEAD }));
  }

  /** Ends the leases of deliveries that were not attempted. */
  async release(deliveries: readonly TakenDelivery[], dueAt: Date): Promise<void> {
    const held = deliveries.map(({ id, webhookId, leasedUntil }) => ({ id, webhookId, leasedUntil }));
    await this.database.run(RELEASE, [JSON.stringify(held), dueAt.toISOString()]);
  }

  /** Gives up the pending deliveries of a webhook that has too many, but for those that are being attempted. */
  async giveUp(webhookId: number): Promise<void> {
    await this.database.run(GIVE_UP, [webhookId, BACKLOG_FULL]);
  }
}

/** What an attempt means for its delivery and its receiver, as the statements read it from JSON. */
function outcomeOf({ delivery, attempt }: Finished, now: Date) {
  const { id, webhookId, url, leasedUntil, attempts } = delivery;
  const error = errorOf(attempt);
  const pauseMs = pauseAfter(attempts + 1, Math.random());
  const again = error !== null && pauseMs !== null;
  const slowMs = slowDownMs(attempt, now.getTime());
  return {
    id,
    webhook: webhookId,
    url,
    lease: leasedUntil,
    status: error === null ? 'delivered' : again ? 'pending' : 'failed',
    due: again ? new Date(now.getTime() + pauseMs) : now,
    answer: attempt.status,
    error,
    gone: isGone(attempt),
    // Until when its receiver wants nothing.
    paused: slowMs > 0 ? new Date(now.getTime() + slowMs) : null,
  };
}
