// This file has the SQL of the queue of deliveries.
import type { Statement } from '#libs/database';
import { EVENT_JSON, eventJson } from '../../events';
import { MAX_PENDING } from '../webhook.entity';
import { JITTER } from './retry-schedule';

const MAX_EVENTS = 500;
const MAX_DELIVERIES = 5_000;

/**
 * Maximum number of concurrent deliveries to one webhook, counted over all processes. Until the first delivery to the
 * webhook's present URL has succeeded (`proven`), the maximum is 1.
 */
export const MAX_CONCURRENT_TO_WEBHOOK = 4;
/**
 * Duration of a lease. A process leases a delivery before sending the delivery, and renews the lease while the attempt
 * runs (RENEW). Until the lease is ended, no other process sends this delivery. If a process dies, its leases expire
 * within this time, another process ends the leases (END_EXPIRED), and its deliveries are sent again.
 */
export const LEASE_MS = 8_000;

/**
 * Reads the end of the event feed. The later statement DISPATCH creates the deliveries of the events up to this end. A
 * single statement for both steps could miss an event that is committed while the statement runs. The function
 * `feed_end()` would include this event, because it reads a sequence, which shows changes at once. But the statement would
 * not see the event's row, because PostgreSQL fixes which rows a statement sees when the statement starts.
 */
export const NEW_EVENTS = `SELECT "end", position < "end" AS "hasNew", EXISTS (SELECT FROM webhooks WHERE enabled) AS "isAnyEnabled"
    FROM webhook_dispatch, feed_end() AS "end"`;

/** Creates deliveries of new events, unless another instance is doing so. */
export const DISPATCH = `WITH start AS (
      SELECT position FROM webhook_dispatch FOR UPDATE SKIP LOCKED
    ), subscriber AS MATERIALIZED (
      SELECT id, since, unnest(coalesce(string_to_array(types, ','), $1)) AS type FROM webhooks WHERE enabled
    ), next AS MATERIALIZED (
      SELECT position, id, type FROM events WHERE position > (SELECT position FROM start) AND position <= $2
      ORDER BY position LIMIT greatest(1, least(${MAX_EVENTS},
        (SELECT ${MAX_DELIVERIES} / greatest(1, count(*)) FROM webhooks WHERE enabled)))
    ), made AS (
      INSERT INTO webhook_deliveries (webhook_id, position, event_id, type, status, attempts, due_at, created_at)
      SELECT subscriber.id, position, 'evt_' || replace(next.id::text, '-', ''), type, 'pending', 0, $3, $3
      FROM next JOIN subscriber USING (type) WHERE since < position ORDER BY position
    )
    UPDATE webhook_dispatch SET position = reached FROM (SELECT max(position) AS reached FROM next) AS made_of
    WHERE reached IS NOT NULL RETURNING reached < $2 AS "hasMore"`;

/** SQL expression for the event as JSON. A test event is not stored in `events`, so this expression builds its JSON. */
const BODY = `CASE WHEN leased.position IS NULL
    THEN ${eventJson('event_id', 'leased.created_at', `concat('{"webhookId":', webhook_id, '}')`)}
    ELSE (SELECT ${EVENT_JSON} FROM events WHERE events.position = leased.position) END`;

/**
 * Finds and locks webhooks with too many pending deliveries. Returns at most ten webhooks, because all pending
 * deliveries of these webhooks are marked as failed in one transaction, which must not become too long.
 */
export const FULL = `SELECT id, client_id AS "clientId" FROM webhooks WHERE enabled AND EXISTS (SELECT FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at OFFSET ${MAX_PENDING} LIMIT 1)
    LIMIT 10 FOR NO KEY UPDATE SKIP LOCKED`;

export const GIVE_UP = `UPDATE webhook_deliveries SET status = 'failed', error = $2 WHERE webhook_id = $1 AND status = 'pending'`;

/** SQL for the deliveries of a webhook that are due now (`$1`) and not leased by any process. */
const DUE = `webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'pending' AND due_at <= $1
  AND leased_until IS NULL`;
/** SQL for the number of deliveries to a webhook that are being sent, which is the sum over all processes. */
const LEASED = `(SELECT count(*) FROM webhook_deliveries WHERE webhook_id = webhooks.id AND leased_until IS NOT NULL)`;
const MAY_SEND = `enabled AND (paused_until IS NULL OR paused_until <= $1)
  AND (proven OR probe_after IS NULL OR probe_after <= $1)
  AND ${LEASED} < CASE WHEN proven THEN ${MAX_CONCURRENT_TO_WEBHOOK} ELSE 1 END`;

/**
 * Returns SQL for a recursive query `found (id)`: the ids of all webhooks with deliveries that meet the condition. The
 * query reads one index entry for each of these webhooks, however many deliveries there are.
 */
export const foundByDeliveries = (condition: string): string => `found (id) AS (
      SELECT min(webhook_id) FROM webhook_deliveries WHERE ${condition}
      UNION ALL
      SELECT (SELECT min(webhook_id) FROM webhook_deliveries WHERE ${condition} AND webhook_id > found.id)
      FROM found WHERE id IS NOT NULL
    )`;

/**
 * Switches off bitmap scans for the transaction. Each lease leaves an outdated entry in the indexes. When a plain index
 * scan finds an outdated entry, PostgreSQL marks the entry, and later scans skip the entry. Bitmap scans never mark
 * entries, so each of these scans would read the entries of all past leases again.
 */
export const WITHOUT_BITMAPS: Statement = { text: 'SET LOCAL enable_bitmapscan = off' };

/**
 * Finds and locks webhooks that have a due delivery. `$2` has the client's id of each delivery that this process is sending
 * now. Webhooks of clients that occur less often in `$2` come first. `$5` is the maximum number of concurrent deliveries of
 * this process. If N clients have due deliveries, each of them gets at most 1/(N + 1) of `$5`, so that a part of `$5` is left
 * for a client whose deliveries become due later. Webhooks that another instance has locked are skipped. The next call
 * finds these webhooks again if they still have due deliveries.
 */
export const LOCK_DUE_WEBHOOKS = `WITH RECURSIVE ${foundByDeliveries(`status = 'pending'`)}, busy AS (
      SELECT client_id, count(*) AS deliveries FROM unnest($2::bigint[]) AS one (client_id) GROUP BY client_id
    ), ready AS (
      SELECT id, client_id,
        coalesce(deliveries, 0) + row_number() OVER (PARTITION BY client_id ORDER BY random()) AS rank
      FROM webhooks LEFT JOIN busy USING (client_id)
      WHERE id = ANY(ARRAY(SELECT id FROM found)) AND quick = $3 AND ${MAY_SEND} AND (SELECT true FROM ${DUE} LIMIT 1)
    )
    SELECT id FROM webhooks WHERE id = ANY(ARRAY(SELECT id FROM ready
      WHERE rank <= greatest(1, $5 / (SELECT 1 + count(DISTINCT client_id) FROM ready))
      ORDER BY rank, random() LIMIT $4)) FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * Leases the next deliveries of each webhook, at most `$4` of a webhook. The webhooks must have been locked by an earlier
 * statement (LOCK_DUE_WEBHOOKS), because PostgreSQL fixes which rows a statement sees when the statement starts. A single
 * statement for both steps would not see leases that another instance took just before, and would lease too many.
 */
export const LEASE = `WITH leased AS (
    UPDATE webhook_deliveries SET leased_until = $3 WHERE id = ANY(ARRAY(
      SELECT next.id FROM webhooks CROSS JOIN LATERAL (
        (SELECT id FROM ${DUE} AND proven ORDER BY due_at LIMIT least($4, ${MAX_CONCURRENT_TO_WEBHOOK} - ${LEASED}))
        UNION ALL
        (SELECT id FROM ${DUE} AND NOT proven ORDER BY id LIMIT 1)
      ) AS next WHERE webhooks.id = ANY($2) AND ${MAY_SEND}))
    RETURNING *
  )
  SELECT leased.id, leased_until AS "leasedUntil", webhook_id AS "webhookId", client_id AS "clientId", quick, url,
    secrets::json, event_id AS "eventId", ${BODY} AS body
  FROM leased JOIN webhooks ON webhooks.id = webhook_id`;

/**
 * Renews leases of this process until `$3`. `$1` has the ids of the deliveries, `$2` the present ends of their leases.
 * Skips a delivery that another transaction has locked, because waiting for several locks could cause a deadlock, and
 * the next call tries again. Returns the ids of the deliveries whose leases were renewed.
 */
export const RENEW = `UPDATE webhook_deliveries SET leased_until = $3 WHERE id = ANY(ARRAY(
      SELECT id FROM webhook_deliveries JOIN unnest($1::bigint[], $2::timestamptz[]) AS held (id, until) USING (id)
      WHERE id = ANY($1) AND leased_until = until FOR UPDATE OF webhook_deliveries SKIP LOCKED)) RETURNING id`;

/** Ends leases that had expired at `$1`. Skips a delivery that another transaction has locked, as RENEW does. */
export const END_EXPIRED = `UPDATE webhook_deliveries SET leased_until = NULL WHERE id = ANY(ARRAY(
      SELECT id FROM webhook_deliveries WHERE leased_until <= $1 FOR UPDATE SKIP LOCKED))`;

/**
 * Records the outcomes of attempts. Ignores an outcome if the delivery was leased again or marked as failed in the
 * meantime.
 * - `outcome` reads the outcomes (`$1`).
 * - `receiver` locks the webhooks of the outcomes.
 * - `finished` records the outcomes in the deliveries, with the time of the next attempt (delays in `$3`), and ends the
 *   leases.
 * - `found` has one row for each webhook, which sums up the outcomes of the webhook's deliveries. The last UPDATE writes this
 *   row into the webhook, unless the webhook has got another URL meanwhile or nothing would change.
 *
 * PostgreSQL must look up the deliveries by primary key, because a scan of another index could read all pending deliveries.
 * Two rules for this statement ensure it: the statement compares ids with arrays (`ANY(ARRAY(…))`), and it has no condition
 * for which PostgreSQL could choose a partial index, such as `status = 'pending'`.
 */
export const RECORD = `WITH outcome AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1) AS outcome (id bigint, lease timestamptz,
        webhook bigint, url text, answer int, error text, pause float, quick boolean)
    ), receiver AS MATERIALIZED (
      SELECT id FROM webhooks WHERE id = ANY(ARRAY(SELECT webhook FROM outcome)) ORDER BY id FOR NO KEY UPDATE
    ), finished AS (
      UPDATE webhook_deliveries SET leased_until = NULL, attempts = attempts + 1, last_attempt_at = $2,
        response_status = outcome.answer, error = outcome.error,
        status = CASE WHEN outcome.error IS NULL THEN 'delivered' WHEN ($3::float[])[attempts + 1] IS NULL THEN 'failed'
          ELSE 'pending' END,
        due_at = $2::timestamptz + interval '1 millisecond' * CASE WHEN outcome.error IS NULL THEN 0
          ELSE floor(coalesce(($3::float[])[attempts + 1], 0) * (1 + ${JITTER} * random())) END
      FROM outcome
      WHERE webhook_deliveries.id = ANY(ARRAY(SELECT id FROM outcome))
        AND webhook_deliveries.id = outcome.id AND leased_until IS NOT DISTINCT FROM outcome.lease
        AND status <> 'failed'
        AND outcome.webhook = ANY(ARRAY(SELECT id FROM receiver))
      RETURNING outcome.*, due_at
    )
    UPDATE webhooks SET
      failing_since = CASE WHEN found.succeeded THEN NULL ELSE coalesce(webhooks.failing_since, $2) END,
      paused_until = greatest(webhooks.paused_until, $2::timestamptz + interval '1 millisecond' * found.pause),
      proven = webhooks.proven OR found.succeeded,
      probe_after = CASE WHEN webhooks.proven OR found.succeeded THEN NULL ELSE found.due END,
      quick = found.quick
    FROM (SELECT webhook, url, bool_or(error IS NULL) AS succeeded, coalesce(bool_or(answer = 410), false) AS gone,
        nullif(max(pause), 0) AS pause, max(due_at) AS due, bool_and(quick) AS quick
      FROM finished GROUP BY webhook, url) AS found
    WHERE webhooks.id = found.webhook AND webhooks.url = found.url AND (NOT found.succeeded
      OR found.gone OR found.pause IS NOT NULL
      OR webhooks.failing_since IS NOT NULL OR NOT webhooks.proven OR webhooks.quick <> found.quick)
    RETURNING webhooks.id, client_id AS "clientId", enabled, found.gone, webhooks.failing_since <= $4 AS dead`;

export type WebhookIds = { id: number; clientId: number };

/** `gone` means that the receiver responded 410, `dead` that all attempts have failed for five days. */
export type Recorded = WebhookIds & { enabled: boolean; gone: boolean; dead: boolean | null };

/**
 * Reads how long the oldest delivery has been due. Ignores webhooks whose receivers fail or have asked for a pause,
 * because these delays are not the service's fault.
 */
export const OLDEST_DUE = `SELECT greatest(0, extract(epoch FROM $1 - min(oldest.due_at)))::float AS seconds
    FROM webhooks CROSS JOIN LATERAL (SELECT due_at FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at LIMIT 1) AS oldest
    WHERE enabled AND failing_since IS NULL AND (paused_until IS NULL OR paused_until <= $1)`;
