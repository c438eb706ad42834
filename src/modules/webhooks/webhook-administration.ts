import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import {
  type Command,
  CommandExecutor,
  Database,
  type Need,
  SERVICE_CALLER,
  type State,
  type Transaction,
} from '#libs/database';
import { AuditTrail } from '../audit';
import { MAX_PENDING, TEST_TYPE, Webhook, WebhookDelivery, withEnabled } from './webhook.entity';

const BY_SERVICE = { owner: SERVICE_CALLER };

/** Counting stops here: it would take long, and the operator has to act anyway. */
const COUNTED = 100_000;

/**
 * A number of deliveries, as an expression of SQL, because TypeORM cannot stop counting at a limit.
 * @param which a condition on `webhook_deliveries`
 */
function deliveriesWhere(which: string, most = COUNTED): string {
  return `(SELECT count(*)::int FROM (SELECT FROM webhook_deliveries WHERE ${which} LIMIT ${most}) AS counted)`;
}

/**
 * Ignores failing webhooks: their owners have to fix them. SQL, because TypeORM has no lateral join, and without one all
 * pending deliveries would be read.
 */
const OLDEST_DUE = {
  text: `SELECT min(oldest.due_at) AS due FROM webhooks CROSS JOIN LATERAL (SELECT due_at FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY due_at LIMIT 1) AS oldest
    WHERE enabled AND failing_since IS NULL AND (paused_until IS NULL OR paused_until <= $1)`,
};

interface OverviewRow {
  client: string;
  pending: number;
  failed: number;
}

/** Webhooks of all clients, for operators. */
@Injectable()
export class WebhookAdministration {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @param client name of a client; default: all */
  list(client?: string): Promise<WebhookOverview[]> {
    return this.overviews(client === undefined ? 'true' : 'client.name = :client', { client });
  }

  async find(id: number): Promise<WebhookOverview | undefined> {
    return (await this.overviews('webhook.id = :id', { id }))[0];
  }

  /** Has no effect if it is enabled already, or deleted. */
  enable(id: number): Promise<void> {
    return this.switch(id, true);
  }

  /**
   * @param reason shown to the client
   * @param applies whether the webhook, once it is locked, is still to be disabled
   */
  disable(id: number, reason: string, applies?: (webhook: Webhook) => boolean): Promise<void> {
    return this.switch(id, false, reason, applies);
  }

  /** Sends a test event to an existing webhook. */
  async test(id: number): Promise<WebhookDelivery> {
    return (await this.commands.execute(BY_SERVICE, testDelivery(id))).delivery;
  }

  delivery(id: number): Promise<WebhookDelivery> {
    return this.webhooks.manager.findOneByOrFail(WebhookDelivery, { id });
  }

  /** Makes failed deliveries of an existing webhook due now, the newest first, as many as may be pending. @returns how many */
  retryFailed(webhookId: number): Promise<number> {
    return this.database.transaction(async (transaction) => {
      await transaction.update(Webhook, { id: webhookId }, { probeAfter: null });
      const { clientId } = await transaction.findOneByOrFail(Webhook, { id: webhookId });
      const pending = deliveriesWhere(`webhook_id = :webhookId AND status = 'pending'`, MAX_PENDING);
      // The subquery is SQL, because TypeORM's UPDATE has no order and no limit.
      const { affected } = await transaction
        .createQueryBuilder()
        .update(WebhookDelivery)
        .set({ status: 'pending', attempts: 0, dueAt: new Date(this.clock.now()) })
        .where(
          `id = ANY(ARRAY(SELECT id FROM webhook_deliveries WHERE webhook_id = :webhookId AND status = 'failed'
            ORDER BY id DESC LIMIT ${MAX_PENDING} - ${pending}))`,
          { webhookId },
        )
        .execute();
      const deliveries = affected!;
      const details = { webhookId, deliveries };
      await this.trail.record(transaction, { action: 'webhook.deliveries_retried', clientId, details });
      return deliveries;
    });
  }

  /** How long the oldest pending delivery has been due, of all instances, without failing webhooks. */
  async oldestDueSeconds(): Promise<number> {
    const now = this.clock.now();
    const [row] = await this.database.query<{ due: Date | null }>(OLDEST_DUE, [new Date(now).toISOString()]);
    const { due } = row!;
    return due === null ? 0 : Math.max(0, (now - due.getTime()) / 1_000);
  }

  private switch(
    id: number,
    enabled: boolean,
    reason?: string,
    applies?: (webhook: Webhook) => boolean,
  ): Promise<void> {
    const decide = (state: State): void => {
      const webhook = state.find(Webhook, id);
      if (webhook?.deletedAt === null && webhook.enabled !== enabled && applies?.(webhook) !== false) {
        state.update(Webhook, id, withEnabled(webhook, enabled, reason));
        const action = enabled ? 'webhook.enabled' : 'webhook.disabled';
        const details = { webhookId: id, reason };
        this.trail.append(state, { action, clientId: webhook.clientId, details });
      }
    };
    return this.commands.execute(BY_SERVICE, { needs: [lockWebhook(id)], decide });
  }

  private async overviews(which: string, parameters: object): Promise<WebhookOverview[]> {
    const { entities, raw } = await this.webhooks
      .createQueryBuilder('webhook')
      .innerJoin('clients', 'client', 'client.id = webhook.clientId')
      .addSelect('client.name', 'client')
      .addSelect(deliveriesWhere(`webhook_id = webhook.id AND status = 'pending'`), 'pending')
      .addSelect(deliveriesWhere(`webhook_id = webhook.id AND status = 'failed'`), 'failed')
      .where('webhook.deletedAt IS NULL')
      .andWhere(which, parameters)
      .orderBy('webhook.id')
      .getRawAndEntities<OverviewRow>();
    return entities.map((webhook, index) => toOverview(webhook, raw[index]!));
  }
}

/** A webhook as operators see it: without secrets, and without the values of the URL's query, which may contain one. */
function toOverview(webhook: Webhook, { client, pending, failed }: OverviewRow) {
  return {
    id: webhook.id,
    client,
    url: shownUrl(webhook.url),
    types: webhook.types,
    state: webhook.enabled ? 'enabled' : 'disabled',
    reason: webhook.disabledReason,
    failingSince: webhook.failingSince,
    pending,
    failed,
  };
}

/** Values in its query may be secret. */
function shownUrl(url: string): string {
  return url.replace(/\?.*/, (query) => query.replace(/=[^&]*/g, '=…'));
}

export type WebhookOverview = ReturnType<typeof toOverview>;

export function lockWebhook(id: number): Need {
  return { row: Webhook, id, lock: 'FOR NO KEY UPDATE' };
}

/** A delivery of a test event to a webhook, which its caller has found. */
export function testDelivery(webhookId: number): Command<{ webhook: Webhook; delivery: WebhookDelivery }> {
  return {
    needs: [lockWebhook(webhookId), { newId: WebhookDelivery }],
    decide: (state) => {
      const webhook = state.find(Webhook, webhookId)!;
      const id = state.newId(WebhookDelivery);
      const delivery: WebhookDelivery = {
        id,
        webhookId,
        position: null,
        eventId: `evt_test_${id}`,
        type: TEST_TYPE,
        createdAt: state.now,
        lastAttemptAt: null,
        responseStatus: null,
        error: null,
        ...dueNow(state, webhook),
      };
      state.insert(WebhookDelivery, id, delivery);
      return { webhook, delivery };
    },
  };
}

/** What somebody asks for is tried at once, on probation too. */
export function dueNow(
  state: State,
  webhook: Webhook,
): Pick<WebhookDelivery, 'status' | 'attempts' | 'dueAt'> {
  state.update(Webhook, webhook.id, { ...webhook, probeAfter: null });
  return { status: 'pending', attempts: 0, dueAt: state.now };
}

/** What a client has here, for those who delete a client or revoke one of its keys. */
export const WEBHOOKS_OF_CLIENT = {
  /** Locks them in the order in which all lock them. */
  async end(transaction: Transaction, clientId: number): Promise<void> {
    const lock = { mode: 'for_no_key_update' } as const;
    const where = { clientId, deletedAt: IsNull() };
    await transaction.find(Webhook, { select: { id: true }, where, order: { id: 'ASC' }, lock });
    await transaction.update(Webhook, where, { enabled: false, secrets: [], deletedAt: () => 'now()' });
  },

  async describeRemaining(
    reader: Transaction,
    client: { id: number; name: string },
  ): Promise<string | undefined> {
    const where = { clientId: client.id, enabled: true, deletedAt: IsNull() };
    const enabled = await reader.find(Webhook, { where, order: { id: 'ASC' } });
    const named = enabled.map(({ id, url }) => `  ${id}  ${shownUrl(url)}`);
    return enabled.length === 0
      ? undefined
      : [
          `Events are still sent to these webhooks of ${client.name}. To end one: webhooks disable <id>`,
          ...named,
        ].join('\n');
  },
};
