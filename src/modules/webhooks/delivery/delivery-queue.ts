import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, int8ToNumber } from '#libs/database';
import { BACKLOG_FULL } from '../change-webhooks';
import { type KeptSecret, WebhookDelivery } from '../webhook.entity';
import {
  type Attempt,
  DISABLED_AFTER_MS,
  errorOf,
  isGone,
  isSuccess,
  pauseAfter,
  slowDownMs,
} from './schedule';

const GONE = 'The receiver responded 410 Gone.';
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

/** What an attempt means for its delivery. */
interface Outcome extends Finished {
  status: 'pending' | 'delivered' | 'failed';
  /** When it is due again. */
  dueAt: Date;
  error: string | null;
}

/** What a batch of attempts says about one receiver. */
interface Summary {
  webhookId: number;
  url: string;
  leasedUntil: Date;
  succeeded: boolean;
  gone: boolean;
  pausedUntil: Date | null;
  /** When a delivery that failed is due again. */
  probeAfter: Date;
}

/** A webhook that must be disabled. */
export interface Unreachable {
  webhookId: number;
  reason: string;
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
 * Claims due deliveries, oldest first, up to the allowance of each webhook. A webhook on probation gets one at a time, of all
 * instances: its row has a lease as well. It is the first one that is due, so that a failed one is tried again before
 * others. Finds the webhooks with pending deliveries by a
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
          ORDER BY due_at LIMIT coalesce(($3::jsonb ->> ready.id::text)::int, $4::int)
          FOR UPDATE SKIP LOCKED) AS oldest
        UNION ALL
        SELECT * FROM (SELECT id, due_at FROM webhook_deliveries
          WHERE ready.id IN (SELECT id FROM probation) AND status = 'pending' AND webhook_id = ready.id AND due_at <= $1
          ORDER BY id LIMIT 1
          FOR UPDATE SKIP LOCKED) AS first
      ) AS due
      ORDER BY due.due_at LIMIT $5
    ), probing AS (
      UPDATE webhooks SET probing_until = $2 FROM taken WHERE webhooks.id = taken.webhook_id AND NOT taken.proven
    )
    UPDATE webhook_deliveries AS delivery SET due_at = $2 FROM taken WHERE delivery.id = taken.id
    RETURNING delivery.id, delivery.webhook_id, taken.url, taken.secrets, delivery.event_id, delivery.payload, delivery.attempts`,
};

/** In ascending id, to avoid deadlocks. A success of a healthy receiver writes nothing. */
const RECORD = {
  text: `UPDATE webhooks SET
      failing_since = CASE WHEN found.succeeded THEN NULL ELSE coalesce(webhooks.failing_since, $8) END,
      paused_until = greatest(webhooks.paused_until, found.paused_until),
      proven = webhooks.proven OR (found.succeeded AND found.url = webhooks.url),
      probing_until = nullif(webhooks.probing_until, found.leased_until),
      probe_after = CASE WHEN webhooks.proven OR found.succeeded THEN NULL
        WHEN found.url = webhooks.url THEN found.probe_after ELSE webhooks.probe_after END
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::boolean[], $5::boolean[], $6::timestamptz[], $7::timestamptz[])
      AS found (id, url, leased_until, succeeded, gone, paused_until, probe_after)
    WHERE webhooks.id = found.id AND (NOT found.succeeded OR webhooks.failing_since IS NOT NULL OR found.gone
      OR found.paused_until IS NOT NULL OR NOT webhooks.proven)
    RETURNING webhooks.id, found.gone, webhooks.failing_since`,
};

const FINISH = {
  text: `UPDATE webhook_deliveries AS delivery SET status = done.status, due_at = done.due_at,
      attempts = delivery.attempts + 1, last_attempt_at = $7, response_status = done.response_status, error = done.error
    FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::int[], $6::text[])
      AS done (id, leased_until, status, due_at, response_status, error)
    WHERE delivery.id = done.id AND delivery.status = 'pending' AND delivery.due_at = done.leased_until`,
};

const RELEASE = {
  text: `WITH held AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS held (id, webhook_id, leased_until)),
    released AS (UPDATE webhook_deliveries AS delivery SET due_at = $4 FROM held
      WHERE delivery.id = held.id AND delivery.status = 'pending' AND delivery.due_at = held.leased_until)
    UPDATE webhooks SET probing_until = NULL FROM held
    WHERE webhooks.id = held.webhook_id AND webhooks.probing_until = held.leased_until`,
};

interface RecordedRow {
  id: string;
  gone: boolean;
  failing_since: Date | null;
}

interface TakenRow {
  id: string;
  webhook_id: string;
  url: string;
  secrets: string;
  event_id: string;
  payload: string;
  attempts: number;
}

/**
 * Deliveries that are due, in the table that all instances share. In SQL, because the query builder knows neither a recursive
 * walk, nor several changes in one statement, nor rows with values of their own.
 */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly database: Database,
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
  ) {}

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

  /**
   * Writes what attempts mean for their deliveries and receivers. May be repeated after a failure. Skips deliveries whose
   * lease has ended, because another process may have claimed them.
   * @returns webhooks that must be disabled
   */
  async recordOutcomes(finished: readonly Finished[], now: Date): Promise<Unreachable[]> {
    const outcomes = finished.map((one) => outcomeOf(one, now));
    // First, because it may be repeated: a delivery that is finished is not looked at again.
    const unreachable = await this.recordReceivers(summariesOf(outcomes, now), now);
    await this.database.run(FINISH, [
      outcomes.map(({ delivery }) => delivery.id),
      outcomes.map(({ delivery }) => delivery.leasedUntil.toISOString()),
      outcomes.map(({ status }) => status),
      outcomes.map(({ dueAt }) => dueAt.toISOString()),
      outcomes.map(({ attempt }) => attempt.status),
      outcomes.map(({ error }) => error),
      now.toISOString(),
    ]);
    return unreachable;
  }

  /** Ends the leases of deliveries that were not attempted. */
  async release(deliveries: readonly TakenDelivery[], dueAt: Date): Promise<void> {
    await this.database.run(RELEASE, [
      deliveries.map(({ id }) => id),
      deliveries.map(({ webhookId }) => webhookId),
      deliveries.map(({ leasedUntil }) => leasedUntil.toISOString()),
      dueAt.toISOString(),
    ]);
  }

  /** Gives up the pending deliveries of a webhook that has too many, but for those that are being attempted. */
  async giveUp(webhookId: number): Promise<void> {
    await this.deliveries
      .createQueryBuilder()
      .update()
      .set({ status: 'failed', error: BACKLOG_FULL })
      .where(
        `id = ANY(ARRAY(SELECT id FROM webhook_deliveries
          WHERE webhook_id = :webhookId AND status = 'pending' FOR UPDATE SKIP LOCKED))`,
        { webhookId },
      )
      .execute();
  }

  private async recordReceivers(summaries: readonly Summary[], now: Date): Promise<Unreachable[]> {
    const rows = await this.database.run<RecordedRow>(RECORD, [
      summaries.map(({ webhookId }) => webhookId),
      summaries.map(({ url }) => url),
      summaries.map(({ leasedUntil }) => leasedUntil.toISOString()),
      summaries.map(({ succeeded }) => succeeded),
      summaries.map(({ gone }) => gone),
      summaries.map(({ pausedUntil }) => pausedUntil?.toISOString() ?? null),
      summaries.map(({ probeAfter }) => probeAfter.toISOString()),
      now.toISOString(),
    ]);
    const deadSince = now.getTime() - DISABLED_AFTER_MS;
    return rows
      .filter((row) => row.gone || (row.failing_since !== null && row.failing_since.getTime() <= deadSince))
      .map((row) => ({ webhookId: int8ToNumber(row.id), reason: row.gone ? GONE : DEAD }));
  }
}

function outcomeOf({ delivery, attempt }: Finished, now: Date): Outcome {
  const error = errorOf(attempt);
  const pauseMs = pauseAfter(delivery.attempts + 1, Math.random());
  const again = error !== null && pauseMs !== null;
  return {
    delivery,
    attempt,
    status: error === null ? 'delivered' : again ? 'pending' : 'failed',
    dueAt: again ? new Date(now.getTime() + pauseMs) : now,
    error,
  };
}

function summariesOf(outcomes: readonly Outcome[], now: Date): Summary[] {
  const byWebhook = new Map<number, Summary>();
  for (const { delivery, attempt, dueAt } of outcomes) {
    const { webhookId, url, leasedUntil } = delivery;
    const found = byWebhook.get(webhookId);
    const slowMs = slowDownMs(attempt, now.getTime());
    const pause = Math.max(found?.pausedUntil?.getTime() ?? 0, slowMs > 0 ? now.getTime() + slowMs : 0);
    byWebhook.set(webhookId, {
      webhookId,
      url,
      leasedUntil,
      succeeded: (found?.succeeded ?? false) || isSuccess(attempt),
      gone: (found?.gone ?? false) || isGone(attempt),
      pausedUntil: pause > 0 ? new Date(pause) : null,
      probeAfter: dueAt,
    });
  }
  return [...byWebhook.values()].sort((one, other) => one.webhookId - other.webhookId);
}
