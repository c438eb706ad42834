import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Statement } from '#libs/database';
import { AuditTrail } from '../../audit';
import { EVENT_JSON, EVENT_TYPES, eventJson } from '../../events';
import { MAX_PENDING, type StoredSecret, Webhook, enabledColumns } from '../webhook.entity';
import { type Attempt, DISABLED_AFTER_MS, JITTER, PAUSES_MS, slowDownMs } from './retry-schedule';

const MAX_EVENTS = 500;
const MAX_DELIVERIES = 5_000;
const BACKLOG_FULL = `More than ${MAX_PENDING} deliveries were pending.`;
const GONE = 'The receiver responded 410 Gone.';
const DEAD = 'All deliveries failed for five days.';
/**
 * Maximum number of concurrent deliveries to one webhook, counted over all processes. Until the first delivery to the
 * webhook's present URL has succeeded (`proven`), the maximum is 1.
 */
const MAX_CONCURRENT_TO_WEBHOOK = 4;
/**
 * Duration of a lease. A process leases a delivery before sending the delivery. Until the lease ends, no other process
 * sends this delivery. The lease is much longer than an attempt takes, because a busy process may record the outcome of
 * the attempt late.
 */
const LEASE_MS = 60_000;
/**
 * How long a leased delivery counts towards MAX_CONCURRENT_TO_WEBHOOK. An attempt ends within 15 seconds, or 31 if the
 * sender needs a second connection. If the lease is older, its process has died or records the outcome late, so another
 * delivery may be sent.
 */
const SENDING_MS = 35_000;
/**
 * Maximum number of concurrent deliveries of one process to quick webhooks. The same maximum applies to slow webhooks,
 * which are all others. `QUICK_MS` in delivery-worker.ts says which webhooks are quick.
 */
const MAX_CONCURRENT_OF_KIND = 500;
/**
 * Maximum number of sockets for each concurrent delivery. While the sender connects, it tries up to four addresses of
 * the receiver at the same time. The fifth socket is an idle connection that stays open for a later delivery.
 */
const SOCKETS_PER_DELIVERY = 5;
/** Number of sockets that a process needs to send the maximum number of deliveries to quick and to slow webhooks. */
export const WEBHOOK_SOCKETS = 2 * MAX_CONCURRENT_OF_KIND * SOCKETS_PER_DELIVERY;

export interface LeasedDelivery {
  id: number;
  /** When the lease ends. Each lease of a delivery ends at a different time, so this time also identifies the lease. */
  leasedUntil: Date;
  webhookId: number;
  clientId: number;
  /**
   * True if this delivery now counts as a delivery to a quick webhook. During the attempt, this is the case if the
   * webhook was quick before and the attempt has not taken longer than QUICK_MS (delivery-worker.ts) yet. After the
   * attempt, this is the case if the attempt took at most QUICK_MS.
   */
  quick: boolean;
  url: string;
  secrets: StoredSecret[];
  eventId: string;
  /** The event as JSON; null if the event has expired. */
  body: string | null;
  /** In unix milliseconds. */
  startedAt?: number;
  attempt?: Attempt;
}

/**
 * Reads the end of the event feed. The later statement DISPATCH creates the deliveries of the events up to this end. A
 * single statement for both steps would miss an event that is committed during the statement. This event would lie
 * before the end, but the statement would not see the event, because PostgreSQL fixes which rows a statement sees when
 * the statement starts.
 */
const NEW_EVENTS = `SELECT "end", position < "end" AS "hasNew", EXISTS (SELECT FROM webhooks WHERE enabled) AS "isAnyEnabled"
    FROM webhook_dispatch, feed_end() AS "end"`;

/** Creates deliveries of new events, unless another instance is doing so. */
const DISPATCH = `WITH start AS (
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
const FULL = `SELECT id, client_id AS "clientId" FROM webhooks WHERE enabled AND EXISTS (SELECT FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at OFFSET ${MAX_PENDING} LIMIT 1)
    LIMIT 10 FOR NO KEY UPDATE SKIP LOCKED`;

const GIVE_UP = `UPDATE webhook_deliveries SET status = 'failed', error = $2 WHERE webhook_id = $1 AND status = 'pending'`;

/** SQL for the deliveries of a webhook that are due now (`$1`) and not leased by any process. */
const DUE = `webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'pending' AND due_at <= $1
  AND (leased_until IS NULL OR leased_until <= $1)`;
/**
 * SQL for the number of deliveries to a webhook that are being sent, which is the sum over all processes. If the webhook
 * is not proven yet, a delivery counts until its outcome is recorded or its lease ends, because the next delivery waits
 * for this outcome.
 */
const LEASED = `(SELECT count(*) FROM webhook_deliveries WHERE webhook_id = webhooks.id
  AND leased_until > $1::timestamptz + CASE WHEN proven THEN interval '${LEASE_MS - SENDING_MS} ms' ELSE interval '0' END)`;
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
const WITHOUT_BITMAPS: Statement = { text: 'SET LOCAL enable_bitmapscan = off' };

/**
 * Finds and locks webhooks that have a due delivery. Webhooks of clients to which this process is sending fewer
 * deliveries (`$2`) come first. If N clients have due deliveries, each client gets at most 1/(N + 1) of the maximum
 * number of concurrent deliveries (`$5`), so that deliveries to one more client can start soon. Webhooks that another
 * instance has locked are skipped. The next call finds these webhooks again if they still have due deliveries.
 */
const LOCK_DUE_WEBHOOKS = `WITH RECURSIVE ${foundByDeliveries(`status = 'pending'`)}, busy AS (
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
 * Leases the next deliveries of each webhook, at most `$4` of a webhook. An earlier statement has locked the webhooks.
 * If another instance held one of these locks before, only this later statement sees the leases of that instance,
 * because PostgreSQL fixes which rows a statement sees when the statement starts.
 */
const LEASE = `WITH leased AS (
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
 * Records the outcomes of attempts. Ignores an outcome if the delivery was leased again or marked as failed in the
 * meantime.
 *
 * PostgreSQL must look up the rows by primary key, because a scan of another index could read all pending deliveries.
 * Therefore the statement compares ids with arrays (`ANY(ARRAY(…))`), and has no condition with which PostgreSQL could
 * use a partial index, such as `status = 'pending'`.
 */
const RECORD = `WITH outcome AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1) AS outcome (id bigint, lease timestamptz,
        webhook bigint, url text, answer int, error text, slow float, quick boolean)
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
      paused_until = greatest(webhooks.paused_until, $2::timestamptz + interval '1 millisecond' * found.slow),
      proven = webhooks.proven OR found.succeeded,
      probe_after = CASE WHEN webhooks.proven OR found.succeeded THEN NULL ELSE found.due END,
      quick = found.quick
    FROM (SELECT webhook, url, bool_or(error IS NULL) AS succeeded, coalesce(bool_or(answer = 410), false) AS gone,
        nullif(max(slow), 0) AS slow, max(due_at) AS due, bool_and(quick) AS quick
      FROM finished GROUP BY webhook, url) AS found
    WHERE webhooks.id = found.webhook AND webhooks.url = found.url AND (NOT found.succeeded
      OR found.gone OR found.slow IS NOT NULL
      OR webhooks.failing_since IS NOT NULL OR NOT webhooks.proven OR webhooks.quick <> found.quick)
    RETURNING webhooks.id, client_id AS "clientId", enabled, found.gone, webhooks.failing_since <= $4 AS dead`;

type WebhookIds = { id: number; clientId: number };

/** `gone` means that the receiver responded 410, `dead` that all attempts have failed for five days. */
type Recorded = WebhookIds & { enabled: boolean; gone: boolean; dead: boolean | null };

/** Ends leases of which this process has lost the response, so that the deliveries need not wait until the leases end. */
const RELEASE = 'UPDATE webhook_deliveries SET leased_until = NULL WHERE leased_until = ANY($1)';

/**
 * Reads how long the oldest delivery has been due. Ignores webhooks whose receivers fail or have asked for a pause,
 * because these delays are not the service's fault.
 */
const OLDEST_DUE = `SELECT greatest(0, extract(epoch FROM $1 - min(oldest.due_at)))::float AS seconds
    FROM webhooks CROSS JOIN LATERAL (SELECT due_at FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at LIMIT 1) AS oldest
    WHERE enabled AND failing_since IS NULL AND (paused_until IS NULL OR paused_until <= $1)`;

/**
 * Queue of deliveries in the database. An instance leases a delivery for a minute, during which no other instance sends
 * this delivery.
 */
@Injectable()
export class DeliveryQueue {
  /**
   * Maximum number of concurrent deliveries of this process to quick webhooks. Deliveries to slow webhooks are counted
   * separately and have the same maximum, so that slow receivers cannot delay the deliveries to quick receivers.
   */
  private maxOfKind = MAX_CONCURRENT_OF_KIND;
  /** When the leases of failed transactions end. If only the response was lost, the database has these leases. */
  private uncertainLeases: string[] = [];

  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly database: Database,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Limits the number of concurrent deliveries, so that the deliveries use at most the given number of sockets.
   * @returns how many of these sockets may be idle connections, which is one for each concurrent delivery
   */
  limitSockets(sockets: number): number {
    this.maxOfKind = Math.max(1, Math.floor(sockets / (2 * SOCKETS_PER_DELIVERY)));
    return 2 * this.maxOfKind;
  }

  /**
   * Creates a delivery of each new event for each webhook that subscribes to the event's type.
   * @returns `hasNew` is true if there were new events, `isAnyEnabled` if any webhook is enabled, and `hasMore` if new
   * events are left for the next call
   */
  async dispatch(): Promise<{ hasNew: boolean; isAnyEnabled: boolean; hasMore: boolean }> {
    const [feed] = await this.database.query<{ end: number; hasNew: boolean; isAnyEnabled: boolean }>({
      text: NEW_EVENTS,
    });
    const { end, hasNew, isAnyEnabled } = feed!;
    const dispatch = { text: DISPATCH, values: [EVENT_TYPES, end, this.timeIn(0)] };
    const [dispatched] = hasNew ? await this.database.query<{ hasMore: boolean }>(dispatch) : [];
    return { hasNew, isAnyEnabled, hasMore: dispatched?.hasMore ?? false };
  }

  async disableFull(): Promise<void> {
    const reason = `${BACKLOG_FULL} They were given up; the feed has their events.`;
    await this.database.inTwoRoundTrips([{ text: FULL }], ([full]) =>
      (full as WebhookIds[]).flatMap((webhook) => [
        ...this.disablingOf(webhook, reason),
        { text: GIVE_UP, values: [webhook.id, BACKLOG_FULL] },
      ]),
    );
  }

  /**
   * Records the outcomes of attempts, and disables webhooks whose receivers have answered 410 or have failed for five
   * days. Then leases due deliveries for this process.
   * @param finished the deliveries whose outcomes are recorded
   * @param current the deliveries that this process is still sending, which count towards the process's maximum number
   * of concurrent deliveries. If `current` is undefined, no deliveries are leased
   * @returns the leased deliveries. If many webhooks have due deliveries, one call leases only a few deliveries of each
   * webhook. In this case, `hasMore` is true, because another call may lease more deliveries
   */
  async recordAndLease(
    finished: readonly LeasedDelivery[],
    current?: readonly LeasedDelivery[],
  ): Promise<{ leased: readonly LeasedDelivery[]; hasMore: boolean }> {
    const now = this.timeIn(0);
    const kinds = (current === undefined ? [] : [true, false])
      .map((quick) => this.capacityFor(quick, current!))
      .filter(({ capacity }) => capacity > 0);
    if (finished.length === 0 && kinds.length === 0) {
      return { leased: [], hasMore: false };
    }
    const finds = kinds.map(({ quick, clients, capacity }) => ({
      text: LOCK_DUE_WEBHOOKS,
      values: [now, clients, quick, capacity, this.maxOfKind],
    }));
    const uncertain = this.uncertainLeases.filter((end) => end > now);
    const release = uncertain.length === 0 ? [] : [{ text: RELEASE, values: [uncertain] }];
    const first = [WITHOUT_BITMAPS, this.recordOf(finished), ...release, ...finds];
    const leasedUntil = this.timeIn(LEASE_MS);
    let share = MAX_CONCURRENT_TO_WEBHOOK;
    const transaction = this.database.inTwoRoundTrips(first, (results) => {
      const [, recorded, ...others] = results as [unknown, Recorded[], ...{ id: number }[][]];
      const found = others.slice(release.length);
      const ended = recorded.filter(({ gone, dead }) => gone || dead);
      const webhooks = found.flat().flatMap(({ id }) => (ended.some((one) => one.id === id) ? [] : [id]));
      const shares = found.map(({ length }, index) =>
        Math.floor(kinds[index]!.capacity / Math.max(1, length)),
      );
      share = Math.min(MAX_CONCURRENT_TO_WEBHOOK, ...shares);
      const values = [now, webhooks, leasedUntil, share];
      const lease = webhooks.length === 0 ? [] : [{ text: LEASE, values }];
      const disabled = ended.filter(({ enabled }) => enabled);
      return [...lease, ...disabled.flatMap((one) => this.disablingOf(one, one.gone ? GONE : DEAD))];
    });
    const [leased = []] = (await transaction.catch((error: unknown) => {
      this.uncertainLeases = [...uncertain, leasedUntil];
      throw error;
    })) as LeasedDelivery[][];
    this.uncertainLeases = [];
    return { leased, hasMore: leased.length > 0 && share < MAX_CONCURRENT_TO_WEBHOOK };
  }

  async oldestDueSeconds(): Promise<number> {
    const statement = { text: OLDEST_DUE, values: [this.timeIn(0)] };
    const [row] = await this.database.query<{ seconds: number }>(statement);
    return row!.seconds;
  }

  private disablingOf({ id: webhookId, clientId }: WebhookIds, reason: string): readonly Statement[] {
    const columns = enabledColumns(false, reason);
    const update = this.webhooks.createQueryBuilder().update().set(columns).where({ id: webhookId });
    const [text, values] = update.getQueryAndParameters();
    const entry = { action: 'webhook.disabled', clientId, details: { webhookId, reason } } as const;
    return [{ text, values }, this.trail.recordOf(entry)];
  }

  /**
   * Returns how many more deliveries this process may start now (`capacity`): to quick webhooks or, if `quick` is
   * false, to slow webhooks. `clients` contains the client of each current delivery to these webhooks.
   */
  private capacityFor(quick: boolean, current: readonly LeasedDelivery[]) {
    const ofKind = current.filter((delivery) => delivery.quick === quick);
    // Limit the sum of quick and slow deliveries, too. A quick delivery whose attempt takes long counts as slow from
    // then on, so there may be more slow deliveries than their maximum.
    const capacity = Math.min(this.maxOfKind - ofKind.length, 2 * this.maxOfKind - current.length);
    return { quick, capacity, clients: ofKind.map(({ clientId }) => clientId) };
  }

  private recordOf(finished: readonly LeasedDelivery[]): Statement {
    const outcomes = finished.map(({ id, leasedUntil: lease, webhookId: webhook, url, quick, attempt }) => {
      const { status: answer, error } = attempt!;
      return { id, lease, webhook, url, answer, error, slow: slowDownMs(attempt!, this.clock.now()), quick };
    });
    const times = [this.timeIn(0), PAUSES_MS, this.timeIn(-DISABLED_AFTER_MS)];
    return { text: RECORD, values: [JSON.stringify(outcomes), ...times] };
  }

  private timeIn(milliseconds: number): string {
    return new Date(this.clock.now() + milliseconds).toISOString();
  }
}
