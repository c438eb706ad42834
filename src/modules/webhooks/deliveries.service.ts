import { Injectable } from '@nestjs/common';
import { CommandExecutor, Database, type Need, type Origin, type State } from '#libs/database';
import { DEFAULT_PAGE_SIZE, type Page, idBefore, pageOf } from '#libs/http';
import { DeliveryWorker } from './delivery/delivery-worker';
import { DELIVERY_STATUSES, WebhookDelivery } from './webhook.entity';
import {
  type DeliveryDto,
  DeliveryNotFoundError,
  type ListDeliveriesQuery,
  toDeliveryDto,
} from './webhooks.dto';
import {
  type WebhookOfClient,
  WebhooksService,
  dueNow,
  foundWebhook,
  lockOf,
  testOf,
} from './webhooks.service';

/** Where the first page starts. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** The deliveries of a client's webhooks. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly webhooks: WebhooksService,
    private readonly worker: DeliveryWorker,
  ) {}

  /**
   * Newest first. SQL, because the index is sorted within each status, so that each is read. Rows are compared, because for a
   * prepared statement with conditions on single columns the planner reads the deliveries of all webhooks by id.
   */
  async list(which: WebhookOfClient, query: ListDeliveriesQuery): Promise<Page<DeliveryDto>> {
    const webhook = await this.webhooks.get(which);
    const { status, cursor, limit = DEFAULT_PAGE_SIZE } = query;
    const table = this.database.table(WebhookDelivery);
    const statement = {
      text: `SELECT page.* FROM unnest($4::text[]) AS wanted (status) CROSS JOIN LATERAL (
          SELECT ${table.names} FROM webhook_deliveries WHERE (webhook_id, status, id) < ($1, wanted.status, $2)
          ORDER BY webhook_id DESC, status DESC, id DESC LIMIT $3) AS page
        WHERE page.webhook_id = $1 AND page.status = wanted.status ORDER BY page.id DESC LIMIT $3`,
    };
    const wanted = status === undefined ? DELIVERY_STATUSES : [status];
    const values = [which.id, idBefore(cursor) || NEWEST, limit + 1, wanted];
    const stored = await this.database.read(statement, values, which.clientId);
    const page = pageOf(
      stored.map((row) => table.rowOf(row)),
      limit,
      ({ id }) => id,
    );
    return { ...page, entries: page.entries.map((delivery) => toDeliveryDto(delivery, webhook)) };
  }

  /** Sends a test event. */
  async test(webhookId: number, origin: Origin): Promise<DeliveryDto> {
    const { needs, decide } = testOf(webhookId);
    const ofClient = (state: State): DeliveryDto => {
      foundWebhook(state, { id: webhookId, clientId: origin.owner });
      const { delivery, webhook } = decide(state);
      return toDeliveryDto(delivery, webhook);
    };
    const delivery = await this.commands.run({ needs, decide: ofClient }, origin);
    this.worker.wake();
    return delivery;
  }

  /** Makes a delivery due now, and restarts its retry schedule. */
  async retry(webhookId: number, deliveryId: number, origin: Origin): Promise<DeliveryDto> {
    const decide = (state: State): DeliveryDto => {
      const webhook = foundWebhook(state, { id: webhookId, clientId: origin.owner });
      const found = state.find(WebhookDelivery, deliveryId);
      if (found?.webhookId !== webhookId) {
        throw new DeliveryNotFoundError(deliveryId);
      }
      const due: WebhookDelivery = { ...found, ...dueNow(state, webhook) };
      state.update(WebhookDelivery, deliveryId, due);
      return toDeliveryDto(due, webhook);
    };
    const row: Need = { row: WebhookDelivery, id: deliveryId, lock: 'FOR NO KEY UPDATE' };
    const needs = [lockOf(webhookId), row];
    const delivery = await this.commands.run({ needs, decide }, origin);
    this.worker.wake();
    return delivery;
  }
}
