import { type Command, type Aggregate, type Need, type State, violates } from '#libs/database';
import type { Precondition } from '#libs/http';
import type { AuditTrail } from '../audit';
import { type DeliveryDto, toDeliveryDto } from './deliveries.dto';
import { type SecretVault, newSecret, rotated } from './webhook-secrets';
import { MAX_PENDING, Webhook, WebhookDelivery } from './webhook.entity';
import {
  DeliveryNotFoundError,
  type NewWebhookDto,
  type SecretRotationDto,
  TooManyWebhooksError,
  type WebhookDto,
  WebhookNotFoundError,
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
      // Another receiver has neither asked for a pause nor accepted anything.
      const receiver = url === webhook.url ? {} : { proven: false, pausedUntil: null, probeAfter: null };
      const changed = { ...switched(webhook, enabled), url, types, description, ...receiver };
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

/**
 * Enables or disables a webhook on behalf of the operator or the service.
 * @param reason why it was disabled, shown to the client
 * @returns false if there is no such webhook
 */
export function switchWebhook(
  id: number,
  enabled: boolean,
  reason: string | null,
  trail: AuditTrail,
): Command<boolean> {
  return {
    needs: [lockOf({ id })],
    decide: (state) => {
      const webhook = state.find(Webhook, id);
      if (webhook?.deletedAt !== null) {
        return false;
      }
      if (webhook.enabled !== enabled) {
        state.update(Webhook, id, switched(webhook, enabled, reason));
        const { clientId } = webhook;
        void trail.record(
          state,
          enabled
            ? { action: 'webhook.enabled', clientId, details: { webhookId: id } }
            : { action: 'webhook.disabled', clientId, details: { webhookId: id, reason: reason! } },
        );
      }
      return true;
    },
  };
}

/** The only place that enables or disables. Enabling starts afresh. */
function switched(webhook: Webhook, enabled: boolean, disabledReason: string | null = null): Webhook {
  if (enabled === webhook.enabled) {
    return webhook;
  }
  const pauses = enabled ? { pausedUntil: null, probeAfter: null } : {};
  return { ...webhook, enabled, disabledReason, failingSince: null, ...pauses };
}

const PENDING: Aggregate = {
  name: 'webhook-deliveries-pending',
  text: `SELECT asked.id, count(*) AS value FROM unnest($1::bigint[]) AS asked (id) CROSS JOIN LATERAL
    (SELECT FROM webhook_deliveries WHERE webhook_id = asked.id AND status = 'pending' LIMIT ${MAX_PENDING}) AS pending
    GROUP BY asked.id`,
};

/** Why a delivery that would be one too many is given up at once. */
export const BACKLOG_FULL = `More than ${MAX_PENDING} deliveries were pending.`;

/** Sends a test event. */
export function testWebhook(which: WebhookOfClient): Command<DeliveryDto> {
  return {
    needs: [lockOf(which), { aggregate: PENDING, id: which.id }, { newId: WebhookDelivery }],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      const { now } = state;
      const id = state.newId(WebhookDelivery);
      const eventId = `evt_test_${id}`;
      const type = 'webhook.test';
      const event = { id: eventId, type, timestamp: now.toISOString(), data: { webhookId: which.id } };
      const delivery: WebhookDelivery = {
        id,
        webhookId: which.id,
        eventId,
        type,
        payload: JSON.stringify(event),
        createdAt: now,
        lastAttemptAt: null,
        responseStatus: null,
        ...dueNow(state, webhook),
      };
      state.insert(WebhookDelivery, id, delivery);
      return toDeliveryDto(delivery, webhook);
    },
  };
}

/** Makes a delivery due now, and restarts its retry schedule. */
export function retryDelivery(which: WebhookOfClient, deliveryId: number): Command<DeliveryDto> {
  const delivery: Need = { row: WebhookDelivery, id: deliveryId, lock: 'FOR NO KEY UPDATE' };
  return {
    needs: [lockOf(which), { aggregate: PENDING, id: which.id }, delivery],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      const found = state.find(WebhookDelivery, deliveryId);
      if (found?.webhookId !== which.id) {
        throw new DeliveryNotFoundError(deliveryId);
      }
      const { error } = found;
      const due = { ...found, ...dueNow(state, webhook, found.status === 'pending' ? 0 : 1) };
      const kept: WebhookDelivery = due.status === 'pending' ? { ...due, error } : due;
      state.update(WebhookDelivery, deliveryId, kept);
      return toDeliveryDto(kept, webhook);
    },
  };
}

/** What the client asks for is tried at once, on probation too. @param added how many more are pending */
function dueNow(
  state: State,
  webhook: Webhook,
  added = 1,
): Pick<WebhookDelivery, 'status' | 'attempts' | 'dueAt' | 'error'> {
  const isFull = state.aggregate(PENDING, webhook.id) + added > MAX_PENDING;
  state.adjust(PENDING, webhook.id, isFull ? 0 : added);
  state.update(Webhook, webhook.id, { ...webhook, probeAfter: null });
  return {
    status: isFull ? 'failed' : 'pending',
    attempts: 0,
    dueAt: state.now,
    error: isFull ? BACKLOG_FULL : null,
  };
}

function lockOf({ id }: Pick<WebhookOfClient, 'id'>): Need {
  return { row: Webhook, id, lock: 'FOR NO KEY UPDATE' };
}

/** @throws ApiError 404, also for a webhook of another client */
function foundWebhook(state: State, { id, clientId }: WebhookOfClient): Webhook {
  const webhook = state.find(Webhook, id);
  if (webhook?.clientId !== clientId || webhook.deletedAt !== null) {
    throw new WebhookNotFoundError(id);
  }
  return webhook;
}
