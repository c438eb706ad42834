import { Injectable } from '@nestjs/common';
import { Database, PageReader, type Statement } from '#libs/database';
import { DEFAULT_PAGE_SIZE, type Page, idBefore, pageOf } from '#libs/http';
import type { WebhookOfClient } from './change-webhooks';
import { type DeliveryDto, type ListDeliveriesQuery, toDeliveryDto } from './deliveries.dto';
import { DELIVERY_STATUSES, Webhook, WebhookDelivery } from './webhook.entity';
import { type ListWebhooksQuery, WebhookNotFoundError } from './webhooks.dto';

/** Reads of webhooks and their deliveries; the commands that change them have their own files. */
@Injectable()
export class WebhooksService {
  private readonly pages: PageReader<Webhook, ListWebhooksQuery & { clientId: number }>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, Webhook, ({ clientId }, parameter) => ({
      conditions: [`client_id = ${parameter(clientId, 'bigint')}`, 'deleted_at IS NULL'],
    }));
  }

  list(clientId: number, query: ListWebhooksQuery): Promise<Page<Webhook>> {
    return this.pages.read({ ...query, clientId }, clientId);
  }

  /** @throws ApiError 404, also for a webhook of another client */
  async get({ id, clientId }: WebhookOfClient): Promise<Webhook> {
    const webhook = await this.database.find(Webhook, id, clientId);
    if (webhook?.clientId !== clientId || webhook.deletedAt !== null) {
      throw new WebhookNotFoundError(id);
    }
    return webhook;
  }

  /** Newest first. */
  async deliveries(which: WebhookOfClient, query: ListDeliveriesQuery): Promise<Page<DeliveryDto>> {
    const webhook = await this.get(which);
    const { names } = this.database.table(WebhookDelivery);
    const statement = deliveryListStatement(names, which.id, query);
    const rows = await this.database.rows(WebhookDelivery, statement, which.clientId);
    const page = pageOf(rows, query.limit ?? DEFAULT_PAGE_SIZE, ({ id }) => id);
    return { ...page, entries: page.entries.map((delivery) => toDeliveryDto(delivery, webhook)) };
  }
}

/** Where the first page starts. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** A page of a webhook's deliveries, newest first. The index is sorted within each status, so it reads each one. */
function deliveryListStatement(
  columns: string,
  webhookId: number,
  { status, cursor, limit = DEFAULT_PAGE_SIZE }: ListDeliveriesQuery,
): Statement & { values: unknown[] } {
  const wanted = status === undefined ? DELIVERY_STATUSES : [status];
  const parts = wanted.map(
    (_status, index) => `(SELECT ${columns} FROM webhook_deliveries
      WHERE webhook_id = $1 AND status = $${index + 4} AND id < $2 ORDER BY status DESC, id DESC LIMIT $3)`,
  );
  return {
    text: `SELECT * FROM (${parts.join(' UNION ALL ')}) AS parts ORDER BY id DESC LIMIT $3`,
    values: [webhookId, idBefore(cursor) || NEWEST, limit + 1, ...wanted],
  };
}
