import { defineError } from '#libs/http';

/** Per client. */
export const MAX_WEBHOOKS = 10;

export const WebhookNotFoundError = defineError({
  code: 'webhook_not_found',
  status: 404,
  when: 'Your client has no webhook with this id.',
  message: (webhookId: number) => `You have no webhook ${webhookId}.`,
  example: [7],
});

export const DeliveryNotFoundError = defineError({
  code: 'delivery_not_found',
  status: 404,
  when: 'The webhook has no delivery with this id, or it is older than 30 days.',
  message: (deliveryId: number) => `The webhook has no delivery ${deliveryId}.`,
  example: [7],
});

export const TooManyWebhooksError = defineError({
  code: 'too_many_webhooks',
  status: 409,
  when: `Your client already has ${MAX_WEBHOOKS} webhooks.`,
  message: () => `You already have ${MAX_WEBHOOKS} webhooks. Delete one first.`,
  example: [],
});

export const WebhookUrlNotAllowedError = defineError({
  code: 'webhook_url_not_allowed',
  status: 422,
  when: 'Webhooks may not be sent to the `url` in the body. The message says why.',
  message: (why: string) => `url ${why}.`,
  example: ['must use https'],
});
