import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { CommandExecutor, Database, int8ToNumber } from '#libs/database';
import { AuditTrail } from '../audit';
import { switchWebhook } from './change-webhooks';
import { MAX_PENDING } from './webhook.entity';

/** Neither the operator nor the service is a client. */
const BY_SERVICE = { owner: 0, status: 200 };

/** Of all clients. */
export interface WebhookState {
  enabled: number;
  /** Enabled, but not delivered to since a failure. */
  failing: number;
  disabled: number;
  /** Up to 100,000. */
  pendingDeliveries: number;
}

/** Counting stops here: it would take long, and the operator has to act anyway. */
const COUNTED = 100_000;

/** A number of deliveries, as an expression of SQL. @param which a condition on `webhook_deliveries` */
export function deliveriesWhere(which: string, most = COUNTED): string {
  return `(SELECT count(*)::int FROM (SELECT FROM webhook_deliveries WHERE ${which} LIMIT ${most}) AS counted)`;
}

/** Selects one row; the columns match `WebhookState`. */
export const WEBHOOK_STATE = `SELECT count(*) FILTER (WHERE enabled)::int AS enabled,
    count(*) FILTER (WHERE enabled AND failing_since IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE NOT enabled)::int AS disabled,
    ${deliveriesWhere(`status = 'pending'`)} AS "pendingDeliveries"
  FROM webhooks WHERE deleted_at IS NULL`;

/** A webhook as operators see it: without secrets, and without the URL's path, which may contain one. */
export interface WebhookOverview {
  id: number;
  client: string;
  url: string;
  types: string[] | null;
  state: 'enabled' | 'disabled';
  reason: string | null;
  failingSince: string | null;
  pending: number;
  failed: number;
}

const OVERVIEW = `SELECT webhooks.id, clients.name AS client, webhooks.url, webhooks.types, webhooks.enabled,
    webhooks.disabled_reason, webhooks.failing_since,
    ${deliveriesWhere(`webhook_id = webhooks.id AND status = 'pending'`)} AS pending,
    ${deliveriesWhere(`webhook_id = webhooks.id AND status = 'failed'`)} AS failed
  FROM webhooks JOIN clients ON clients.id = webhooks.client_id
  WHERE webhooks.deleted_at IS NULL AND ($1::text IS NULL OR clients.name = $1) AND ($2::bigint IS NULL OR webhooks.id = $2)
  ORDER BY webhooks.id`;

interface OverviewRow {
  id: string;
  client: string;
  url: string;
  types: string | null;
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: Date | null;
  pending: number;
  failed: number;
}

/** Webhooks of all clients, for operators. */
@Injectable()
export class WebhookAdministration {
  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @param client name of a client; default: all */
  async list(client?: string): Promise<WebhookOverview[]> {
    return (await this.database.query<OverviewRow>(OVERVIEW, [client ?? null, null])).map(toOverview);
  }

  async find(id: number): Promise<WebhookOverview | undefined> {
    return (await this.database.query<OverviewRow>(OVERVIEW, [null, id])).map(toOverview)[0];
  }

  /** Has no effect if it is enabled already. @returns false if there is no such webhook */
  enable(id: number): Promise<boolean> {
    return this.commands.run(switchWebhook(id, true, null, this.trail), BY_SERVICE);
  }

  /** @param reason shown to the client */
  disable(id: number, reason: string): Promise<boolean> {
    return this.commands.run(switchWebhook(id, false, reason, this.trail), BY_SERVICE);
  }

  /** Makes failed deliveries of an existing webhook due now, the newest first, as many as may be pending. @returns how many */
  retryFailed(webhookId: number): Promise<number> {
    return this.database.transaction(async (transaction) => {
      const [webhook] = await transaction.query<{ client_id: string }[]>(
        `WITH changed AS (UPDATE webhooks SET probe_after = NULL WHERE id = $1 RETURNING client_id) TABLE changed`,
        [webhookId],
      );
      const now = new Date(this.clock.now()).toISOString();
      const [row] = await transaction.query<{ deliveries: number }[]>(
        `WITH retried AS (UPDATE webhook_deliveries SET status = 'pending', attempts = 0, due_at = $2
           WHERE id = ANY(ARRAY(SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'failed'
             ORDER BY id DESC LIMIT ${MAX_PENDING} - ${deliveriesWhere(`webhook_id = $1 AND status = 'pending'`, MAX_PENDING)}))
           RETURNING 1)
         SELECT count(*)::int AS deliveries FROM retried`,
        [webhookId, now],
      );
      const { deliveries } = row!;
      const clientId = int8ToNumber(webhook!.client_id);
      const details = { webhookId, deliveries };
      await this.trail.record(transaction, { action: 'webhook.deliveries_retried', clientId, details });
      return deliveries;
    });
  }
}

function toOverview(row: OverviewRow): WebhookOverview {
  return {
    id: int8ToNumber(row.id),
    client: row.client,
    // Some services have a secret in the path.
    url: new URL(row.url).origin,
    types: row.types?.split(',') ?? null,
    state: row.enabled ? 'enabled' : 'disabled',
    reason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    pending: row.pending,
    failed: row.failed,
  };
}
