import { Injectable } from '@nestjs/common';
import {
  type CallerId,
  CommandExecutor,
  Database,
  type Lookup,
  type Need,
  type CommandSource,
  PageReader,
  type Select,
  type State,
} from '#libs/database';
import {
  type Page,
  type PageQuery,
  OperatorActionNeededError,
  pageMapper,
  pageOf,
  rangeOf,
} from '#libs/http';
import { ClientRows } from '../auth';
import { AddressPolicy } from './delivery/address-policy';
import { MAX_SECRETS, SecretVault, validSecrets, withNewSecret } from './webhook-secrets';
import {
  DELIVERY_STATUSES,
  NEW_RECEIVER,
  TEST_TYPE,
  Webhook,
  WebhookDelivery,
  enabledColumns,
} from './webhook.entity';
import {
  type DeliveryDto,
  DeliveryNotFoundError,
  type ListDeliveriesQuery,
  MAX_WEBHOOKS,
  type NewWebhookDto,
  TooManySecretsError,
  TooManyWebhooksError,
  WebhookDisabledError,
  type WebhookDto,
  WebhookNotFoundError,
  type WebhookPatchDto,
  WebhookUrlNotAllowedError,
  type WebhookWithSecretDto,
  normalizedTypes,
  toDeliveryDto,
  toWebhookDto,
} from './webhooks.dto';

const COUNT_WEBHOOKS = `SELECT (SELECT count(*) FROM webhooks WHERE client_id = client)
    FROM unnest($1::bigint[]) WITH ORDINALITY AS clients (client, place) ORDER BY place`;

/** Counts the webhooks of a client, after locking the client's row so that the number cannot change. */
const COUNT: Lookup<number, number> = {
  name: 'the number of webhooks',
  isUnderLocks: true,
  statementFor: (clients) => ({ text: COUNT_WEBHOOKS, values: [clients] }),
  resultsOf: (rows) => rows.map(([count]) => count as number),
};

@Injectable()
export class WebhooksService {
  private readonly pages = new PageReader(this.database, Webhook, selectWebhooksOf, pageMapper(toWebhookDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly vault: SecretVault,
    private readonly policy: AddressPolicy,
  ) {}

  async list(query: PageQuery, clientId: CallerId): Promise<Page<WebhookDto>> {
    return this.pages.read(rangeOf(query), { clientId }, clientId);
  }

  async get(id: number, clientId: CallerId): Promise<WebhookDto> {
    return toWebhookDto(owned(await this.database.find(Webhook, id, clientId), id, clientId));
  }

  /**
   * Creates a webhook. Locks the client's row, because concurrent requests could otherwise create more webhooks than
   * the limit allows.
   */
  create(body: NewWebhookDto, clientId: CallerId, source: CommandSource): Promise<WebhookWithSecretDto> {
    const created = this.commands.execute(source, {
      needs: [ClientRows.needOf(clientId), { lookup: COUNT, key: clientId }, { newId: Webhook }],
      decide: (state): WebhookWithSecretDto => {
        this.assertAllowed(body.url);
        const count = state.lookUp(COUNT, clientId);
        if (count >= MAX_WEBHOOKS) {
          throw new TooManyWebhooksError();
        }
        const id = state.newId(Webhook);
        const sealed = this.vault.encryptNew(id);
        const webhook: Webhook = {
          id,
          clientId,
          url: body.url,
          types: normalizedTypes(body.types),
          description: body.description ?? null,
          enabled: body.enabled ?? true,
          disabledReason: null,
          ...NEW_RECEIVER,
          secrets: [{ sealed, until: null }],
          createdAt: state.now,
        };
        // If the client was deleted in the meantime, write nothing, because the client's other webhooks were deleted as
        // well.
        if (ClientRows.exists(state, clientId)) {
          state.insert(Webhook, id, webhook);
          state.setLookup(COUNT, clientId, count + 1);
        }
        return { ...toWebhookDto(webhook), secret: sealed };
      },
    });
    return this.withDecryptedSecret(created);
  }

  update(id: number, patch: WebhookPatchDto, clientId: CallerId, source: CommandSource): Promise<WebhookDto> {
    return this.change(id, clientId, source, [], (webhook, state) => {
      this.assertAllowed(patch.url);
      const { url = webhook.url, description = webhook.description, enabled = webhook.enabled } = patch;
      const changed: Webhook = {
        ...webhook,
        ...(enabled === webhook.enabled ? {} : enabledColumns(enabled)),
        ...(url === webhook.url ? {} : NEW_RECEIVER),
        url,
        types: patch.types === undefined ? webhook.types : normalizedTypes(patch.types),
        description,
      };
      state.update(Webhook, id, changed);
      return toWebhookDto(changed);
    });
  }

  remove(id: number, clientId: CallerId, source: CommandSource): Promise<void> {
    return this.commands.execute(source, {
      needs: [{ entity: Webhook, id, lock: 'FOR UPDATE' }],
      resource: (state) => toWebhookDto(findOwned(state, id, clientId)),
      decide: (state) => state.delete(Webhook, findOwned(state, id, clientId).id),
    });
  }

  rotate(id: number, clientId: CallerId, source: CommandSource): Promise<WebhookWithSecretDto> {
    const rotated = this.change(id, clientId, source, [], (webhook, state) => {
      const valid = validSecrets(webhook.secrets, state.now);
      if (valid.length >= MAX_SECRETS) {
        throw new TooManySecretsError(valid.at(-1)!.until!);
      }
      const sealed = this.vault.encryptNew(id);
      state.update(Webhook, id, { ...webhook, secrets: withNewSecret(webhook.secrets, sealed, state.now) });
      return { ...toWebhookDto(webhook), secret: sealed };
    });
    return this.withDecryptedSecret(rotated);
  }

  /**
   * Returns a page of deliveries, newest first. Each status is read separately, because the index sorts ids only
   * within a status.
   */
  async listDeliveries(
    id: number,
    query: ListDeliveriesQuery,
    clientId: CallerId,
  ): Promise<Page<DeliveryDto>> {
    const webhook = await this.get(id, clientId);
    const { after, limit } = rangeOf(query);
    const table = this.database.table(WebhookDelivery);
    const text = `SELECT page.* FROM unnest($4::text[]) AS wanted (status) CROSS JOIN LATERAL (
          SELECT ${table.columnNames} FROM webhook_deliveries WHERE (webhook_id, status, id) < ($1, wanted.status, $2)
          ORDER BY webhook_id DESC, status DESC, id DESC LIMIT $3) AS page
        WHERE page.webhook_id = $1 AND page.status = wanted.status ORDER BY page.id DESC LIMIT $3`;
    const wanted = query.status === undefined ? DELIVERY_STATUSES : [query.status];
    const values = [id, after.id || Number.MAX_SAFE_INTEGER, limit + 1, wanted];
    const stored = await this.database.reads.read({ text, values }, { callerId: clientId, isSlow: false });
    return pageOf(
      stored.map((row) => toDeliveryDto(table.rowOf(row), webhook)),
      limit,
    );
  }

  test(webhookId: number, clientId: CallerId, source: CommandSource): Promise<DeliveryDto> {
    return this.change(webhookId, clientId, source, [{ newId: WebhookDelivery }], (webhook, state) => {
      if (!webhook.enabled) {
        throw new WebhookDisabledError(webhookId);
      }
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
        ...dueNow(state),
      };
      state.insert(WebhookDelivery, id, delivery);
      endProbePause(state, webhook);
      return toDeliveryDto(delivery, webhook);
    });
  }

  retry(
    webhookId: number,
    deliveryId: number,
    clientId: CallerId,
    source: CommandSource,
  ): Promise<DeliveryDto> {
    return this.commands.execute(source, {
      needs: [
        { entity: Webhook, id: webhookId, lock: 'FOR NO KEY UPDATE' },
        { entity: WebhookDelivery, id: deliveryId, lock: 'FOR NO KEY UPDATE' },
      ],
      resource: (state) => {
        const webhook = findOwned(state, webhookId, clientId);
        return toDeliveryDto(findDelivery(state, deliveryId, webhook), webhook);
      },
      decide: (state) => {
        const webhook = findOwned(state, webhookId, clientId);
        const delivery = findDelivery(state, deliveryId, webhook);
        const due: WebhookDelivery = { ...delivery, ...dueNow(state) };
        state.update(WebhookDelivery, deliveryId, due);
        endProbePause(state, webhook);
        return toDeliveryDto(due, webhook);
      },
    });
  }

  private change<Result>(
    id: number,
    clientId: CallerId,
    source: CommandSource,
    needs: Need[],
    decide: (webhook: Webhook, state: State) => Result,
  ): Promise<Result> {
    return this.commands.execute(source, {
      needs: [{ entity: Webhook, id, lock: 'FOR NO KEY UPDATE' }, ...needs],
      resource: (state) => toWebhookDto(findOwned(state, id, clientId)),
      decide: (state) => decide(findOwned(state, id, clientId), state),
    });
  }

  /**
   * Decrypts the secret in the response of a command that has ended. The command itself returns the encrypted secret,
   * because its response is stored if the request has an Idempotency-Key.
   */
  private async withDecryptedSecret(answered: Promise<WebhookWithSecretDto>): Promise<WebhookWithSecretDto> {
    const webhook = await answered;
    try {
      return { ...webhook, secret: this.vault.decrypt(webhook.secret, webhook.id) };
    } catch {
      throw new OperatorActionNeededError(
        'The response that is stored for an Idempotency-Key contains a webhook secret that another WEBHOOK_KEY has encrypted. Set WEBHOOK_KEY to that key, or send the request with a new Idempotency-Key.',
      );
    }
  }

  private assertAllowed(url: string | undefined): void {
    const problem = url === undefined ? undefined : this.policy.problemWith(url);
    if (problem !== undefined) {
      throw new WebhookUrlNotAllowedError(problem);
    }
  }
}

const selectWebhooksOf: Select<{ clientId: CallerId }> = ({ clientId }, parameter) => ({
  conditions: [`client_id = ${parameter(clientId, 'bigint')}`],
});

function owned(webhook: Webhook | null, id: number, clientId: CallerId): Webhook {
  if (webhook === null || webhook.clientId !== clientId) {
    throw new WebhookNotFoundError(id);
  }
  return webhook;
}

function findOwned(state: State, id: number, clientId: CallerId): Webhook {
  return owned(state.find(Webhook, id), id, clientId);
}

function findDelivery(state: State, id: number, webhook: Webhook): WebhookDelivery {
  const delivery = state.find(WebhookDelivery, id);
  if (delivery?.webhookId !== webhook.id) {
    throw new DeliveryNotFoundError(id);
  }
  return delivery;
}

function dueNow({ now }: State): Pick<WebhookDelivery, 'status' | 'attempts' | 'dueAt'> {
  return { status: 'pending', attempts: 0, dueAt: now };
}

/**
 * Lets a webhook get its next delivery now if no delivery to its URL has succeeded yet (`proven` is false). Such a webhook
 * would otherwise get nothing during the pause after its last failed attempt.
 */
function endProbePause(state: State, webhook: Webhook): void {
  state.update(Webhook, webhook.id, { ...webhook, probeAfter: null });
}
