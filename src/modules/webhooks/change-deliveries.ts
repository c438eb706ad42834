import type { Command } from '#libs/database';
import { type WebhookOfClient, foundWebhook, lockOf } from './change-webhooks';
import { type DeliveryDto, toDeliveryDto } from './deliveries.dto';
import { WebhookDelivery } from './webhook-delivery.entity';
import { DeliveryNotFoundError } from './webhooks.errors';

/** Sends a test event. */
export function testWebhook(which: WebhookOfClient): Command<DeliveryDto> {
  return {
    needs: [lockOf(which), { newId: WebhookDelivery }],
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
        status: 'pending',
        attempts: 0,
        dueAt: now,
        createdAt: now,
        lastAttemptAt: null,
        responseStatus: null,
        error: null,
      };
      state.insert(WebhookDelivery, id, delivery);
      return toDeliveryDto(delivery, webhook);
    },
  };
}

/** Makes a delivery due now, and restarts its retry schedule. */
export function retryDelivery(which: WebhookOfClient, deliveryId: number): Command<DeliveryDto> {
  return {
    needs: [lockOf(which), { row: WebhookDelivery, id: deliveryId, lock: 'FOR NO KEY UPDATE' }],
    decide: (state) => {
      const webhook = foundWebhook(state, which);
      const delivery = state.find(WebhookDelivery, deliveryId);
      if (delivery?.webhookId !== which.id) {
        throw new DeliveryNotFoundError(deliveryId);
      }
      const due: WebhookDelivery = { ...delivery, status: 'pending', attempts: 0, dueAt: state.now };
      state.update(WebhookDelivery, deliveryId, due);
      return toDeliveryDto(due, webhook);
    },
  };
}
