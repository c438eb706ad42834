import { Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdempotentPosts, type Origin, SentBy } from '#libs/database';
import { Operation, MAX_PAGE_SIZE, Paged, type Page, IdParam } from '#libs/http';
import { ScopeByMethod } from '../auth';
import {
  DeliveryDto,
  DeliveryNotFoundError,
  ListDeliveriesQuery,
  WebhookNotFoundError,
} from './webhooks.dto';
import { DeliveriesService } from './deliveries.service';

const EXAMPLE: DeliveryDto = {
  id: 1,
  eventId: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  type: 'order.placed',
  status: 'delivered',
  attempts: 1,
  createdAt: '2026-11-21T09:30:00.000Z',
  lastAttemptAt: '2026-11-21T09:30:00.000Z',
  responseStatus: 204,
};
const DUE: DeliveryDto = {
  id: 2,
  eventId: 'evt_test_2',
  type: 'webhook.test',
  status: 'pending',
  attempts: 0,
  createdAt: '2026-11-21T09:30:00.000Z',
  nextAttemptAt: '2026-11-21T09:30:00.000Z',
};
const WEBHOOK_ID = 'Identifier of the webhook (Webhook.id).';

@ApiTags('Events')
@Controller('webhooks/:webhookId')
@ScopeByMethod()
@IdempotentPosts()
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('test')
  @Operation({
    id: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Sends an event of type `webhook.test`, whatever types the webhook subscribes to. If the webhook is disabled, the event is sent once it is enabled.',
    response: { status: 202, description: 'The event will be sent.', type: DeliveryDto, example: DUE },
    errors: [WebhookNotFoundError],
    stability: 'experimental',
  })
  test(@IdParam('webhookId', WEBHOOK_ID) id: number, @SentBy() origin: Origin): Promise<DeliveryDto> {
    return this.deliveries.test(id, origin);
  }

  @Get('deliveries')
  @Paged()
  @Operation({
    id: 'listDeliveries',
    summary: 'List deliveries',
    description: 'Returns a page of the deliveries of a webhook from the last 30 days, newest first.',
    response: {
      description: 'One page of deliveries.',
      type: DeliveryDto,
      maxItems: MAX_PAGE_SIZE,
      example: [EXAMPLE],
    },
    errors: [WebhookNotFoundError],
    stability: 'experimental',
  })
  list(
    @IdParam('webhookId', WEBHOOK_ID) id: number,
    @Query() query: ListDeliveriesQuery,
    @SentBy() { owner }: Origin,
  ): Promise<Page<DeliveryDto>> {
    return this.deliveries.list({ id, clientId: owner }, query);
  }

  @Post('deliveries/:deliveryId/retry')
  @Operation({
    id: 'retryDelivery',
    summary: 'Retry a delivery',
    description: 'Sends the event again now, even if it was delivered. If it fails, the retries start over.',
    response: { status: 202, description: 'The event will be sent.', type: DeliveryDto, example: DUE },
    errors: [WebhookNotFoundError, DeliveryNotFoundError],
    stability: 'experimental',
  })
  retry(
    @IdParam('webhookId', WEBHOOK_ID) id: number,
    @IdParam('deliveryId', 'Identifier of the delivery (Delivery.id).') deliveryId: number,
    @SentBy() origin: Origin,
  ): Promise<DeliveryDto> {
    return this.deliveries.retry(id, deliveryId, origin);
  }
}
