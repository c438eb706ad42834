import { Injectable } from '@nestjs/common';
import { CommandExecutor, Database, type Origin, PageReader, type Statement } from '#libs/database';
import { DEFAULT_PAGE_SIZE, type Page, type Precondition, idBefore, pageOf } from '#libs/http';
import {
  type Sealed,
  type WebhookOfClient,
  createWebhook,
  deleteWebhook,
  retryDelivery,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from './change-webhooks';
import { type DeliveryDto, type ListDeliveriesQuery, toDeliveryDto } from './deliveries.dto';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryWorker } from './delivery/delivery-worker';
import { SecretVault } from './webhook-secrets';
import { DELIVERY_STATUSES, Webhook, WebhookDelivery } from './webhook.entity';
import {
  type ListWebhooksQuery,
  type NewWebhookDto,
  type SecretRotationDto,
  type WebhookDto,
  WebhookNotFoundError,
  type WebhookPatchDto,
  WebhookUrlNotAllowedError,
  type WebhookWithSecretDto,
} from './webhooks.dto';

/** The webhooks of clients and their deliveries. */
@Injectable()
export class WebhooksService {
  private readonly pages: PageReader<Webhook, ListWebhooksQuery & { clientId: number }>;

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly vault: SecretVault,
    private readonly policy: AddressPolicy,
    private readonly worker: DeliveryWorker,
  ) {
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

  /** The response is the only one with the secret. */
  async create(body: NewWebhookDto, origin: Origin): Promise<WebhookWithSecretDto> {
    this.assertAllowed(body.url);
    return this.unsealed(await this.commands.run(createWebhook(origin.owner, body, this.vault), origin));
  }

  async update(
    id: number,
    patch: WebhookPatchDto,
    precondition: Precondition,
    origin: Origin,
  ): Promise<WebhookDto> {
    const which = { id, clientId: origin.owner };
    await this.get(which);
    this.assertAllowed(patch.url);
    return this.commands.run(updateWebhook(which, patch, precondition), origin);
  }

  async remove(id: number, precondition: Precondition, origin: Origin): Promise<void> {
    await this.commands.run(deleteWebhook({ id, clientId: origin.owner }, precondition), origin);
  }

  async rotate(id: number, body: SecretRotationDto, origin: Origin): Promise<WebhookWithSecretDto> {
    const command = rotateSecret({ id, clientId: origin.owner }, body, this.vault);
    return this.unsealed(await this.commands.run(command, origin));
  }

  /** Sends a test event. */
  async test(id: number, origin: Origin): Promise<DeliveryDto> {
    const delivery = await this.commands.run(testWebhook({ id, clientId: origin.owner }), origin);
    this.worker.wake();
    return delivery;
  }

  /** Sends a delivery again, now. */
  async retry(id: number, deliveryId: number, origin: Origin): Promise<DeliveryDto> {
    const command = retryDelivery({ id, clientId: origin.owner }, deliveryId);
    const delivery = await this.commands.run(command, origin);
    this.worker.wake();
    return delivery;
  }

  /** Newest first. */
  async deliveries(which: WebhookOfClient, query: ListDeliveriesQuery): Promise<Page<DeliveryDto>> {
    const webhook = await this.get(which);
    const table = this.database.table(WebhookDelivery);
    const { values, ...statement } = deliveryListStatement(table.names, which.id, query);
    const stored = await this.database.read(statement, values, which.clientId);
    const rows = stored.map((row) => table.rowOf(row));
    const page = pageOf(rows, query.limit ?? DEFAULT_PAGE_SIZE, ({ id }) => id);
    return { ...page, entries: page.entries.map((delivery) => toDeliveryDto(delivery, webhook)) };
  }

  private assertAllowed(url: string | undefined): void {
    const objection = url === undefined ? undefined : this.policy.objection(url);
    if (objection !== undefined) {
      throw new WebhookUrlNotAllowedError(objection);
    }
  }

  /** Decrypts the secret, which is stored encrypted for an Idempotency-Key, for the response and its replays. */
  private unsealed(webhook: Sealed): WebhookWithSecretDto {
    return { ...webhook, secret: this.vault.open(webhook.secret, webhook.id) };
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
