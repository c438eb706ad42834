import { ApiSchema } from '@nestjs/swagger';
import { Id, Integer, OneOf, PageQuery, Text, Timestamp } from '#libs/http';
import { DELIVERY_STATUSES, type DeliveryStatus, type Webhook, type WebhookDelivery } from './webhook.entity';

const STATUS = {
  description:
    'Whether it waits for an attempt (`pending`), arrived (`delivered`) or was given up (`failed`).',
  enumName: 'DeliveryStatus',
};
const AT = '2026-11-21T09:30:00.000Z';

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

  @OneOf(DELIVERY_STATUSES, { ...STATUS, example: 'delivered' })
  status!: DeliveryStatus;

  @Integer({ min: 0, max: 2_147_483_647, description: 'How many attempts were made.', example: 1 })
  attempts!: number;

  @Timestamp({ description: 'When the delivery was created.', example: AT })
  createdAt!: string;

  @Timestamp({ description: 'When the last attempt ended.', example: AT, optional: true })
  lastAttemptAt?: string;

  @Timestamp({
    description: 'When the next attempt is due; left out while the webhook is disabled.',
    example: AT,
    optional: true,
  })
  nextAttemptAt?: string;

  @Integer({
    min: 100,
    max: 999,
    description: 'The status of the last response, if there was one.',
    example: 200,
    optional: true,
  })
  responseStatus?: number;

  @Text({
    min: 0,
    max: 300,
    description: 'Why the last attempt failed.',
    example: 'The response was 500.',
    optional: true,
  })
  error?: string;
}

export class ListDeliveriesQuery extends PageQuery {
  @OneOf(DELIVERY_STATUSES, { times: 1, description: 'Only deliveries with this status.', example: 'failed' })
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
