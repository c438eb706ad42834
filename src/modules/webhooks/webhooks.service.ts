import { Injectable } from '@nestjs/common';
import { Database, PageReader } from '#libs/database';
import { DEFAULT_PAGE_SIZE, type Page, pageOf } from '#libs/http';
import type { WebhookOfClient } from './change-webhooks';
import { type DeliveryDto, type ListDeliveriesQuery, toDeliveryDto } from './deliveries.dto';
import { deliveryListStatement } from './delivery-list-statement';
import { WebhookDelivery } from './webhook-delivery.entity';
import { Webhook } from './webhook.entity';
import { WebhookNotFoundError } from './webhooks.errors';
import type { ListWebhooksQuery } from './webhooks.dto';

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
    const webhook = await this.database.find(Webhook, id);
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
