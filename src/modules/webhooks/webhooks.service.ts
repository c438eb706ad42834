import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Need,
  type Origin,
  PageReader,
  type State,
  countById,
  violates,
} from '#libs/database';
import { type Page, type PageQuery, pageOf, pagesOf, rangeOf } from '#libs/http';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryWorker } from './delivery/delivery-worker';
import { dueNow, lockWebhook, testDelivery } from './webhook-administration';
import { MAX_SECRETS, SecretVault, newSecret, withNewSecret, validSecrets } from './webhook-secrets';
import { DELIVERY_STATUSES, NEW_RECEIVER, Webhook, WebhookDelivery, withEnabled } from './webhook.entity';
import {
  type DeliveryDto,
  DeliveryNotFoundError,
  type ListDeliveriesQuery,
  MAX_WEBHOOKS,
  type NewWebhookDto,
  TooManySecretsError,
  TooManyWebhooksError,
  type WebhookDto,
  WebhookNotFoundError,
  type WebhookPatchDto,
  WebhookUrlNotAllowedError,
  type WebhookWithSecretDto,
  storedTypes,
  toDeliveryDto,
  toWebhookDto,
} from './webhooks.dto';

/** By client. */
const COUNT = countById(
  'the number of webhooks',
  `SELECT client_id, count(*) FROM webhooks
    WHERE client_id = ANY($1::bigint[]) AND deleted_at IS NULL GROUP BY client_id`,
);

/** The webhooks of clients, and their deliveries. */
@Injectable()
export class WebhooksService {
  private readonly pages = new PageReader(
    this.database,
    Webhook,
    ({ clientId }: { clientId: number }, parameter) => ({
      conditions: [`client_id = ${parameter(clientId, 'bigint')}`, 'deleted_at IS NULL'],
    }),
    pagesOf(toWebhookDto),
  );

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly vault: SecretVault,
    private readonly policy: AddressPolicy,
    private readonly worker: DeliveryWorker,
  ) {}

  async list(clientId: number, query: PageQuery): Promise<Page<WebhookDto>> {
    return this.pages.read(rangeOf(query), { clientId }, clientId);
  }

  /** @throws ApiError 404, also for a webhook of another client */
  async get(id: number, clientId: number): Promise<WebhookDto> {
    return toWebhookDto(owned(await this.database.find(Webhook, id, clientId), id, clientId));
  }

  /**
   * The response is the only one with the secret, which is sealed here (`SecretOpener`). A trigger enforces the maximum as well: another instance may add one
   * meanwhile.
   */
  create(body: NewWebhookDto, origin: Origin): Promise<WebhookWithSecretDto> {
    this.assertAllowed(body.url);
    return this.commands.execute<WebhookWithSecretDto>(origin, {
      needs: [{ lookup: COUNT, key: origin.owner }, { newId: Webhook }],
      decide: (state) => {
        if (state.lookUp(COUNT, origin.owner) >= MAX_WEBHOOKS) {
          throw new TooManyWebhooksError();
        }
        state.note(COUNT, origin.owner, (count) => count + 1);
        const id = state.newId(Webhook);
        const sealed = this.vault.seal(newSecret(), id);
        const webhook: Webhook = {
          id,
          clientId: origin.owner,
          url: body.url,
          types: storedTypes(body.types),
          description: body.description ?? null,
          enabled: body.enabled ?? true,
          disabledReason: null,
          ...NEW_RECEIVER,
          secrets: [{ sealed, until: null }],
          createdAt: state.now,
          deletedAt: null,
        };
        state.insert(Webhook, id, webhook);
        return { ...toWebhookDto(webhook), secret: sealed };
      },
      translateViolation: (error) =>
        violates(error, 'webhooks_of_client') ? new TooManyWebhooksError() : error,
    });
  }

  update(id: number, patch: WebhookPatchDto, origin: Origin): Promise<WebhookDto> {
    const decide = (state: State): WebhookDto => {
      const webhook = foundWebhook(state, id, origin.owner);
      this.assertAllowed(patch.url);
      origin.precondition?.assertHolds(toWebhookDto(webhook));
      const { url = webhook.url, description = webhook.description, enabled = webhook.enabled } = patch;
      const types = patch.types === undefined ? webhook.types : storedTypes(patch.types);
      const receiver = url === webhook.url ? {} : NEW_RECEIVER;
      const changed = { ...withEnabled(webhook, enabled), url, types, description, ...receiver };
      state.update(Webhook, id, changed);
      return toWebhookDto(changed);
    };
    return this.commands.execute(origin, { needs: [lockWebhook(id)], decide });
  }

  async remove(id: number, origin: Origin): Promise<void> {
    const decide = (state: State): void => {
      const webhook = foundWebhook(state, id, origin.owner);
      origin.precondition?.assertHolds(toWebhookDto(webhook));
      state.note(COUNT, origin.owner, (count) => count - 1);
      state.update(Webhook, id, { ...webhook, enabled: false, secrets: [], deletedAt: state.now });
    };
    await this.commands.execute(origin, { needs: [lockWebhook(id)], decide });
  }

  rotate(id: number, origin: Origin): Promise<WebhookWithSecretDto> {
    const decide = (state: State): WebhookWithSecretDto => {
      const webhook = foundWebhook(state, id, origin.owner);
      const valid = validSecrets(webhook.secrets, state.now);
      if (valid.length >= MAX_SECRETS) {
        throw new TooManySecretsError(valid.at(-1)!.until!);
      }
      const sealed = this.vault.seal(newSecret(), id);
      state.update(Webhook, id, { ...webhook, secrets: withNewSecret(webhook.secrets, sealed, state.now) });
      return { ...toWebhookDto(webhook), secret: sealed };
    };
    return this.commands.execute(origin, { needs: [lockWebhook(id)], decide });
  }

  /**
   * Newest first. SQL, because the index is sorted within each status, so that each is read. Rows are compared, because for a
   * prepared statement with conditions on single columns the planner reads the deliveries of all webhooks by id.
   */
  async listDeliveries(id: number, clientId: number, query: ListDeliveriesQuery): Promise<Page<DeliveryDto>> {
    const webhook = await this.get(id, clientId);
    const { status } = query;
    const { after, limit } = rangeOf(query);
    const table = this.database.table(WebhookDelivery);
    const statement = {
      text: `SELECT page.* FROM unnest($4::text[]) AS wanted (status) CROSS JOIN LATERAL (
          SELECT ${table.names} FROM webhook_deliveries WHERE (webhook_id, status, id) < ($1, wanted.status, $2)
          ORDER BY webhook_id DESC, status DESC, id DESC LIMIT $3) AS page
        WHERE page.webhook_id = $1 AND page.status = wanted.status ORDER BY page.id DESC LIMIT $3`,
    };
    const wanted = status === undefined ? DELIVERY_STATUSES : [status];
    const values = [id, after.id || Number.MAX_SAFE_INTEGER, limit + 1, wanted];
    const stored = await this.database.read(statement, values, clientId, false);
    const page = pageOf(
      stored.map((row) => table.rowOf(row)),
      limit,
    );
    return { ...page, entries: page.entries.map((delivery) => toDeliveryDto(delivery, webhook)) };
  }

  /** Sends a test event. */
  async test(webhookId: number, origin: Origin): Promise<DeliveryDto> {
    const { needs, decide } = testDelivery(webhookId);
    const ofClient = (state: State): DeliveryDto => {
      foundWebhook(state, webhookId, origin.owner);
      const { delivery, webhook } = decide(state);
      return toDeliveryDto(delivery, webhook);
    };
    const delivery = await this.commands.execute(origin, { needs, decide: ofClient });
    this.worker.wake();
    return delivery;
  }

  /** Makes a delivery due now, and restarts its retry schedule. */
  async retry(webhookId: number, deliveryId: number, origin: Origin): Promise<DeliveryDto> {
    const decide = (state: State): DeliveryDto => {
      const webhook = foundWebhook(state, webhookId, origin.owner);
      const found = state.find(WebhookDelivery, deliveryId);
      if (found?.webhookId !== webhookId) {
        throw new DeliveryNotFoundError(deliveryId);
      }
      const due: WebhookDelivery = { ...found, ...dueNow(state, webhook) };
      state.update(WebhookDelivery, deliveryId, due);
      return toDeliveryDto(due, webhook);
    };
    const row: Need = { row: WebhookDelivery, id: deliveryId, lock: 'FOR NO KEY UPDATE' };
    const needs = [lockWebhook(webhookId), row];
    const delivery = await this.commands.execute(origin, { needs, decide });
    this.worker.wake();
    return delivery;
  }
  private assertAllowed(url: string | undefined): void {
    const objection = url === undefined ? undefined : this.policy.objection(url);
    if (objection !== undefined) {
      throw new WebhookUrlNotAllowedError(objection);
    }
  }
}

/** @throws ApiError 404, also for a webhook of another client */
function foundWebhook(state: State, id: number, clientId: number): Webhook {
  return owned(state.find(Webhook, id), id, clientId);
}

/** To other clients a webhook does not exist. */
function owned(webhook: Webhook | null | undefined, id: number, clientId: number): Webhook {
  if (webhook?.clientId !== clientId || webhook.deletedAt !== null) {
    throw new WebhookNotFoundError(id);
  }
  return webhook;
}
