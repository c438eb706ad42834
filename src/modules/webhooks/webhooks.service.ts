import { Injectable } from '@nestjs/common';
import {
  type Command,
  CommandExecutor,
  Database,
  type Need,
  type Origin,
  PageReader,
  type State,
  violates,
} from '#libs/database';
import { type Page, type Precondition, rangeOf } from '#libs/http';
import { AddressPolicy } from './delivery/address-policy';
import { SecretVault, newSecret, rotated } from './webhook-secrets';
import { TEST_TYPE, Webhook, WebhookDelivery, switched } from './webhook.entity';
import {
  type ListWebhooksQuery,
  type NewWebhookDto,
  type SecretRotationDto,
  TooManyWebhooksError,
  type WebhookDto,
  WebhookNotFoundError,
  type WebhookPatchDto,
  WebhookUrlNotAllowedError,
  type WebhookWithSecretDto,
  toWebhookDto,
} from './webhooks.dto';

/** A webhook of a client. To other clients it does not exist. */
export interface WebhookOfClient {
  id: number;
  clientId: number;
}

/** The webhooks of clients. */
@Injectable()
export class WebhooksService {
  private readonly pages: PageReader<Webhook, { clientId: number }>;

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
    private readonly vault: SecretVault,
    private readonly policy: AddressPolicy,
  ) {
    this.pages = new PageReader(database, Webhook, ({ clientId }, parameter) => ({
      conditions: [`client_id = ${parameter(clientId, 'bigint')}`, 'deleted_at IS NULL'],
    }));
  }

  list(clientId: number, query: ListWebhooksQuery): Promise<Page<Webhook>> {
    return this.pages.read(rangeOf(query), { clientId }, clientId);
  }

  /** @throws ApiError 404, also for a webhook of another client */
  async get({ id, clientId }: WebhookOfClient): Promise<Webhook> {
    const webhook = await this.database.find(Webhook, id, clientId);
    return owned(webhook, { id, clientId });
  }

  /**
   * The response is the only one with the secret. A trigger enforces the maximum: after a check in advance, another instance
   * could still add one.
   */
  async create(body: NewWebhookDto, origin: Origin): Promise<WebhookWithSecretDto> {
    this.assertAllowed(body.url);
    const created = await this.commands.run<WebhookWithSecretDto>(
      {
        needs: [{ newId: Webhook }],
        decide: (state) => {
          const id = state.newId(Webhook);
          const sealed = this.vault.seal(body.secret ?? newSecret(), id);
          const webhook: Webhook = {
            id,
            clientId: origin.owner,
            url: body.url,
            types: body.types ?? null,
            description: body.description ?? null,
            enabled: body.enabled ?? true,
            disabledReason: null,
            failingSince: null,
            pausedUntil: null,
            proven: false,
            probeAfter: null,
            secrets: [{ sealed, until: null }],
            createdAt: state.now,
            deletedAt: null,
          };
          state.insert(Webhook, id, webhook);
          return { ...toWebhookDto(webhook), secret: sealed };
        },
        explain: (error) => (violates(error, 'webhooks_of_client') ? new TooManyWebhooksError() : error),
      },
      origin,
    );
    return this.unsealed(created);
  }

  update(
    id: number,
    patch: WebhookPatchDto,
    precondition: Precondition,
    origin: Origin,
  ): Promise<WebhookDto> {
    const decide = (state: State): WebhookDto => {
      const webhook = foundWebhook(state, { id, clientId: origin.owner });
      this.assertAllowed(patch.url);
      precondition.assertHolds(toWebhookDto(webhook));
      const { url = webhook.url, types = webhook.types, description = webhook.description } = patch;
      const { enabled = webhook.enabled } = patch;
      // Another receiver has neither asked for a pause nor accepted anything.
      const receiver = url === webhook.url ? {} : { proven: false, pausedUntil: null, probeAfter: null };
      const changed = { ...switched(webhook, enabled), url, types, description, ...receiver };
      state.update(Webhook, id, changed);
      return toWebhookDto(changed);
    };
    return this.commands.run({ needs: [lockOf(id)], decide }, origin);
  }

  async remove(id: number, precondition: Precondition, origin: Origin): Promise<void> {
    const decide = (state: State): void => {
      const webhook = foundWebhook(state, { id, clientId: origin.owner });
      precondition.assertHolds(toWebhookDto(webhook));
      state.update(Webhook, id, { ...webhook, enabled: false, secrets: [], deletedAt: state.now });
    };
    await this.commands.run({ needs: [lockOf(id)], decide }, origin);
  }

  async rotate(id: number, body: SecretRotationDto, origin: Origin): Promise<WebhookWithSecretDto> {
    const { secret = newSecret() } = body;
    const decide = (state: State): WebhookWithSecretDto => {
      const webhook = foundWebhook(state, { id, clientId: origin.owner });
      const sealed = this.vault.seal(secret, id);
      state.update(Webhook, id, { ...webhook, secrets: rotated(webhook.secrets, sealed, state.now) });
      return { ...toWebhookDto(webhook), secret: sealed };
    };
    return this.unsealed(await this.commands.run({ needs: [lockOf(id)], decide }, origin));
  }

  private assertAllowed(url: string | undefined): void {
    const objection = url === undefined ? undefined : this.policy.objection(url);
    if (objection !== undefined) {
      throw new WebhookUrlNotAllowedError(objection);
    }
  }

  /** Decrypts the secret, which is stored encrypted for an Idempotency-Key, for the response and its replays. */
  private unsealed(webhook: WebhookWithSecretDto): WebhookWithSecretDto {
    return { ...webhook, secret: this.vault.open(webhook.secret, webhook.id) };
  }
}

export function lockOf(id: number): Need {
  return { row: Webhook, id, lock: 'FOR NO KEY UPDATE' };
}

/** @throws ApiError 404, also for a webhook of another client */
export function foundWebhook(state: State, which: WebhookOfClient): Webhook {
  return owned(state.find(Webhook, which.id), which);
}

/** A delivery of a test event to a webhook, which its caller has found. */
export function testOf(webhookId: number): Command<{ webhook: Webhook; delivery: WebhookDelivery }> {
  return {
    needs: [lockOf(webhookId), { newId: WebhookDelivery }],
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

function owned(webhook: Webhook | null | undefined, { id, clientId }: WebhookOfClient): Webhook {
  if (webhook?.clientId !== clientId || webhook.deletedAt !== null) {
    throw new WebhookNotFoundError(id);
  }
  return webhook;
}
