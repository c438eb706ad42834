import { type Command, type Need, type State, violatesCheck } from '#libs/database';
import type { Precondition } from '#libs/http';
import { newSecret, rotated } from './webhook-secrets';
import type { SecretVault } from './secret-vault';
import { Webhook } from './webhook.entity';
import { TooManyWebhooksError, WebhookNotFoundError } from './webhooks.errors';
import {
  type NewWebhookDto,
  type SecretRotationDto,
  type WebhookDto,
  type WebhookPatchDto,
  toWebhookDto,
} from './webhooks.dto';

/** A webhook of a client. To other clients it does not exist. */
export interface WebhookOfClient {
  id: number;
  clientId: number;
}

/** A response as stored for an Idempotency-Key: its secret is encrypted. */
export type Sealed = WebhookDto & { secret: string };

/** A trigger enforces the maximum: after a check in advance, another instance could still add one. */
export function createWebhook(clientId: number, body: NewWebhookDto, vault: SecretVault): Command<Sealed> {
  return {
    needs: [{ newId: Webhook }],
    decide: (state) => {
      const id = state.newId(Webhook);
      const sealed = vault.seal(body.secret ?? newSecret(), id);
      const webhook: Webhook = {
        id,
        clientId,
        url: body.url,
        types: body.types ?? null,
        description: body.description ?? null,
        enabled: body.enabled ?? true,
        disabledReason: null,
        failingSince: null,
        secrets: [{ sealed, until: null }],
        createdAt: state.now,
        deletedAt: null,
      };
      state.insert(Webhook, id, webhook);
      return { ...toWebhookDto(webhook), secret: sealed };
    },
    explain: (error) => (violatesCheck(error, 'webhooks_of_client') ? new TooManyWebhooksError() : error),
  };
}

export function updateWebhook(
  which: WebhookOfClient,
  patch: WebhookPatchDto,
  precondition: Precondition,
): Command<WebhookDto> {
  return {
    needs: [lockOf(which)],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      precondition.assertHolds(toWebhookDto(webhook));
      const { url = webhook.url, types = webhook.types, description = webhook.description } = patch;
      const { enabled = webhook.enabled } = patch;
      // Enabling it starts afresh.
      const standing = enabled === webhook.enabled ? {} : { disabledReason: null, failingSince: null };
      const changed = { ...webhook, url, types, description, enabled, ...standing };
      state.update(Webhook, which.id, changed);
      return toWebhookDto(changed);
    },
  };
}

export function deleteWebhook(which: WebhookOfClient, precondition: Precondition): Command<void> {
  return {
    needs: [lockOf(which)],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      precondition.assertHolds(toWebhookDto(webhook));
      state.update(Webhook, which.id, { ...webhook, enabled: false, secrets: [], deletedAt: state.now });
    },
  };
}

export function rotateSecret(
  which: WebhookOfClient,
  { secret = newSecret() }: SecretRotationDto,
  vault: SecretVault,
): Command<Sealed> {
  return {
    needs: [lockOf(which)],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      const sealed = vault.seal(secret, which.id);
      const secrets = rotated(webhook.secrets, sealed, state.now);
      state.update(Webhook, which.id, { ...webhook, secrets });
      return { ...toWebhookDto(webhook), secret: sealed };
    },
  };
}

export function lockOf({ id }: WebhookOfClient): Need {
  return { row: Webhook, id, lock: 'FOR NO KEY UPDATE' };
}

/** @throws ApiError 404, also for a webhook of another client */
export function foundWebhook(state: State, { id, clientId }: WebhookOfClient): Webhook {
  const webhook = state.find(Webhook, id);
  if (webhook?.clientId !== clientId || webhook.deletedAt !== null) {
    throw new WebhookNotFoundError(id);
  }
  return webhook;
}
