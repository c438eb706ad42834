import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { arrayMaxSize, isIn } from 'class-validator';
import {
  Field,
  type FieldOptions,
  Id,
  Integer,
  OneOf,
  PageQuery,
  Text,
  Timestamp,
  TrueOrFalse,
  defineError,
} from '#libs/http';
import { EVENT_TYPES } from '../events';
import { MAX_SECRETS } from './webhook-secrets';
import { DELIVERY_STATUSES, type DeliveryStatus, type Webhook, type WebhookDelivery } from './webhook.entity';

const TYPES_SCHEMA = {
  type: 'array',
  maxItems: EVENT_TYPES.length,
  items: { $ref: '#/components/schemas/EventName' },
};
const EXPECTED_TYPES = `a list of at most ${EVENT_TYPES.length} types: ${EVENT_TYPES.join(', ')}`;

function Types(options: FieldOptions): PropertyDecorator {
  const example = ['order.placed', 'order.completed'];
  const isValid = (value: unknown) =>
    Array.isArray(value) &&
    arrayMaxSize(value, EVENT_TYPES.length) &&
    value.every((type) => isIn(type, EVENT_TYPES));
  return Field({ example, ...options }, TYPES_SCHEMA, EXPECTED_TYPES, isValid);
}

const AT = '2026-11-21T09:30:00.000Z';
const URL_FIELD = {
  min: 1,
  max: 2_000,
  description: 'An https URL to a public address, without user and password, on port 80, 443 or above 1023.',
  example: 'https://shop.example/events',
};
const NOTE = { max: 2_000, description: 'Your own note about the webhook.', example: 'Packing list printer' };
const ENABLED = { description: 'Whether events are sent.', example: true };

@ApiSchema({ name: 'NewWebhook', description: 'The body to create a webhook.' })
export class NewWebhookDto {
  @Text(URL_FIELD)
  url!: string;

  @Types({ description: 'Types of events to send. Absent, null or empty means all.', nullable: true })
  types?: string[] | null;

  @Text({ ...NOTE, optional: true })
  description?: string;

  @TrueOrFalse({
    ...ENABLED,
    description: 'Whether events are sent. Default: true.',
    optional: true,
  })
  enabled?: boolean;
}

@ApiSchema({
  name: 'WebhookPatch',
  description: 'A JSON Merge Patch (RFC 7396) of a webhook: only the fields to change.',
})
export class WebhookPatchDto {
  @Text({ ...URL_FIELD, optional: true })
  url?: string;

  @Types({ description: 'Types of events to send. Null or empty means all.', nullable: true })
  types?: string[] | null;

  @Text({ ...NOTE, description: 'Your own note about the webhook. Null removes it.', nullable: true })
  description?: string | null;

  @TrueOrFalse({
    ...ENABLED,
    description:
      'Whether events are sent. Events that happen while `enabled` is false are not sent later. Pending deliveries continue when `enabled` is true again.',
    optional: true,
  })
  enabled?: boolean;
}

@ApiSchema({ name: 'Webhook', description: 'A URL that receives the events of the store.' })
export class WebhookDto {
  @Id({ description: 'Unique webhook identifier.', example: 1 })
  id!: number;

  @Text(URL_FIELD)
  url!: string;

  @Types({ description: 'Types of events that are sent. Absent if all types are sent.', optional: true })
  types?: string[];

  @Text({ ...NOTE, optional: true })
  description?: string;

  @TrueOrFalse(ENABLED)
  enabled!: boolean;

  @Text({
    max: 500,
    description: 'Why the service or its operator disabled the webhook. Absent otherwise.',
    example: 'All deliveries failed for five days.',
    optional: true,
  })
  disabledReason?: string;

  @Timestamp({ description: 'When the webhook was created.', example: AT })
  createdAt!: string;
}

@ApiSchema({
  name: 'WebhookWithSecret',
  description: 'A webhook with its signing secret, which is shown once.',
})
export class WebhookWithSecretDto extends WebhookDto {
  @ApiProperty({
    description: 'The secret that signs deliveries: `whsec_` and 24 to 64 random bytes in base64.',
    minLength: 38,
    maxLength: 94,
    pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    example: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=',
  })
  secret!: string;
}

export const WEBHOOK = {
  id: 1,
  url: URL_FIELD.example,
  types: ['order.placed', 'order.completed'],
  description: NOTE.example,
  enabled: true,
  createdAt: AT,
};
export const WEBHOOK_WITH_SECRET = {
  ...WEBHOOK,
  secret: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=',
};

export function toWebhookDto(webhook: Webhook): WebhookDto {
  const { id, url, types, description, enabled, disabledReason, createdAt } = webhook;
  return {
    id,
    url,
    ...(types === null ? {} : { types }),
    ...(description === null ? {} : { description }),
    enabled,
    ...(disabledReason === null ? {} : { disabledReason }),
    createdAt: createdAt.toISOString(),
  };
}

@ApiSchema({
  name: 'Delivery',
  description: 'One event on its way to one webhook. Fields that do not apply are left out.',
})
export class DeliveryDto {
  @Id({ description: 'Unique delivery identifier.', example: 1 })
  id!: number;

  @Text({
    min: 1,
    max: 100,
    description: 'The event’s id, which is the `webhook-id` of the request.',
    example: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  })
  eventId!: string;

  @Text({ min: 1, max: 100, description: 'The event’s type.', example: 'order.placed' })
  type!: string;

  @OneOf(DELIVERY_STATUSES, {
    description:
      'Whether the delivery waits for an attempt (`pending`), has arrived (`delivered`) or was given up (`failed`).',
    example: 'delivered',
    enumName: 'DeliveryStatus',
  })
  status!: DeliveryStatus;

  @Integer({ min: 0, max: 2_147_483_647, description: 'How many attempts were made.', example: 1 })
  attempts!: number;

  @Timestamp({ description: 'When the delivery was created.', example: AT })
  createdAt!: string;

  @Timestamp({ description: 'When the last attempt ended.', example: AT, optional: true })
  lastAttemptAt?: string;

  @Timestamp({
    description:
      'When the next attempt is due. It may begin later, before the first success of the webhook or after a 429, 502, 503 or 504. Absent while the webhook is disabled.',
    optional: true,
  })
  nextAttemptAt?: string;

  @Integer({
    min: 100,
    max: 999,
    description: 'The HTTP status of the last response, if there was one.',
    example: 204,
    optional: true,
  })
  responseStatus?: number;

  @Text({ max: 300, description: 'Why the last attempt failed.', optional: true })
  error?: string;
}

export class ListDeliveriesQuery extends PageQuery {
  @OneOf(DELIVERY_STATUSES, {
    times: 1,
    description: 'Only deliveries with this status.',
    example: 'failed',
    enumName: 'DeliveryStatus',
  })
  status?: DeliveryStatus;
}

export function toDeliveryDto(delivery: WebhookDelivery, { enabled }: Pick<Webhook, 'enabled'>): DeliveryDto {
  const { id, eventId, type, attempts, createdAt, lastAttemptAt, dueAt, responseStatus, error } = delivery;
  return {
    id,
    eventId,
    type,
    status: delivery.status,
    attempts,
    createdAt: createdAt.toISOString(),
    ...(lastAttemptAt === null ? {} : { lastAttemptAt: lastAttemptAt.toISOString() }),
    ...(delivery.status === 'pending' && enabled ? { nextAttemptAt: dueAt.toISOString() } : {}),
    ...(responseStatus === null ? {} : { responseStatus }),
    ...(error === null ? {} : { error }),
  };
}

/** Converts the types in a request to the stored form. Without any types, returns null, which means all types. */
export function normalizedTypes(types: readonly string[] | null | undefined): string[] | null {
  return types?.length ? [...new Set(types)] : null;
}

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
  when: 'The webhook has no delivery with this id, or the delivery is older than 30 days.',
  message: (deliveryId: number) => `The webhook has no delivery ${deliveryId}.`,
  example: [7],
});

export const TooManyWebhooksError = defineError({
  code: 'too_many_webhooks',
  status: 409,
  when: `Your client already has ${MAX_WEBHOOKS} webhooks.`,
  message: `You already have ${MAX_WEBHOOKS} webhooks. Delete one first.`,
});

export const TooManySecretsError = defineError({
  code: 'too_many_secrets',
  status: 409,
  when: `${MAX_SECRETS} secrets of the webhook are valid already.`,
  message: (until: string) =>
    `${MAX_SECRETS} secrets are valid. The oldest one ends at ${until}; rotate after that.`,
  example: ['2026-11-22T09:30:00.000Z'],
});

export const WebhookDisabledError = defineError({
  code: 'webhook_disabled',
  status: 409,
  when: 'The webhook is disabled, so nothing is sent to it.',
  message: (webhookId: number) => `Webhook ${webhookId} is disabled. Enable it first.`,
  example: [7],
});

export const WebhookUrlNotAllowedError = defineError({
  code: 'webhook_url_not_allowed',
  status: 422,
  when: 'Webhooks may not be sent to the `url` in the body. The message says why.',
  message: (why: string) => `url ${why}.`,
  example: ['must use https'],
});
