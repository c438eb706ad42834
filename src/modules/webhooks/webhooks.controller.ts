import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import type { CallerId, CommandSource } from '#libs/database';
import { Operation, type Page, PageQuery, IdParam, Tag } from '#libs/http';
import { ClientId, ScopeByMethod } from '../auth';
import { Source, SendsCommands } from '../writes';
import { CALLBACKS } from './webhook-callbacks';
import { WebhooksService } from './webhooks.service';
import {
  DeliveryDto,
  DeliveryNotFoundError,
  ListDeliveriesQuery,
  NewWebhookDto,
  TooManySecretsError,
  TooManyWebhooksError,
  WEBHOOK,
  WEBHOOK_WITH_SECRET,
  WebhookDisabledError,
  WebhookDto,
  WebhookNotFoundError,
  WebhookPatchDto,
  WebhookUrlNotAllowedError,
  WebhookWithSecretDto,
} from './webhooks.dto';

const DUE: DeliveryDto = {
  id: 2,
  eventId: 'evt_test_2',
  type: 'webhook.test',
  status: 'pending',
  attempts: 0,
  createdAt: '2026-11-21T09:30:00.000Z',
  nextAttemptAt: '2026-11-21T09:30:00.000Z',
};
const DELIVERED: DeliveryDto = {
  id: 1,
  eventId: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  type: 'order.placed',
  status: 'delivered',
  attempts: 1,
  createdAt: '2026-11-21T09:30:00.000Z',
  lastAttemptAt: '2026-11-21T09:30:01.000Z',
  responseStatus: 204,
};
const ExperimentalOperation = (options: Parameters<typeof Operation>[0]) =>
  Operation({ ...options, stability: 'experimental' });
const WebhookId = () => IdParam('webhookId', 'Identifier of the webhook (Webhook.id).');

@Tag({
  place: 60,
  name: 'Webhooks',
  description: 'Your URLs that receive the events.',
  group: 'Notifications',
})
@Controller('webhooks')
@ScopeByMethod()
@SendsCommands()
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Get()
  @ExperimentalOperation({
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: "Returns your client's webhooks, sorted by id.",
    response: { description: 'One page of webhooks.', page: WebhookDto, example: [WEBHOOK] },
  })
  list(@Query() query: PageQuery, @ClientId() clientId: CallerId): Promise<Page<WebhookDto>> {
    return this.webhooks.list(query, clientId);
  }

  @Post()
  @ExperimentalOperation({
    id: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Events are sent to `url` from now on. Only this response contains the signing secret; keep it. Your client may have 10 webhooks.',
    response: {
      status: 201,
      description: 'The webhook was created.',
      resource: WebhookWithSecretDto,
      example: WEBHOOK_WITH_SECRET,
      asRead: withoutSecret,
    },
    errors: [TooManyWebhooksError, WebhookUrlNotAllowedError],
    callbacks: CALLBACKS,
  })
  create(
    @Body() body: NewWebhookDto,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<WebhookWithSecretDto> {
    return this.webhooks.create(body, clientId, source);
  }

  @Get(':webhookId')
  @ExperimentalOperation({
    id: 'getWebhook',
    summary: 'Get a webhook',
    description: 'Returns one webhook, without its secret.',
    response: { description: 'The webhook.', resource: WebhookDto, example: WEBHOOK },
    errors: [WebhookNotFoundError],
  })
  get(@WebhookId() id: number, @ClientId() clientId: CallerId): Promise<WebhookDto> {
    return this.webhooks.get(id, clientId);
  }

  @Patch(':webhookId')
  @ExperimentalOperation({
    id: 'updateWebhook',
    summary: 'Update a webhook',
    description: 'A JSON Merge Patch (RFC 7396). The secret does not change.',
    response: {
      description: 'The updated webhook.',
      resource: WebhookDto,
      example: { ...WEBHOOK, enabled: false },
    },
    errors: [WebhookNotFoundError, WebhookUrlNotAllowedError],
    bodyExamples: { disabled: { summary: 'Send nothing for now', value: { enabled: false } } },
  })
  update(
    @WebhookId() id: number,
    @Body() body: WebhookPatchDto,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<WebhookDto> {
    return this.webhooks.update(id, body, clientId, source);
  }

  @Delete(':webhookId')
  @ExperimentalOperation({
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes a webhook and its deliveries. Nothing more is sent to its URL.',
    errors: [WebhookNotFoundError],
  })
  delete(
    @WebhookId() id: number,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<void> {
    return this.webhooks.remove(id, clientId, source);
  }

  @Post(':webhookId/secret')
  @ExperimentalOperation({
    id: 'rotateWebhookSecret',
    summary: 'Rotate the secret',
    description:
      'Creates a new secret, which only this response contains. For 24 hours, the old secret signs too, so that your receiver can switch. Five secrets may be valid at a time.',
    response: {
      description: 'The webhook with its new secret.',
      resource: WebhookWithSecretDto,
      example: WEBHOOK_WITH_SECRET,
      asRead: withoutSecret,
    },
    errors: [WebhookNotFoundError, TooManySecretsError],
  })
  rotate(
    @WebhookId() id: number,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<WebhookWithSecretDto> {
    return this.webhooks.rotate(id, clientId, source);
  }

  @Post(':webhookId/test')
  @ExperimentalOperation({
    id: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Sends an event of type `webhook.test`, whatever types the webhook subscribes to. Nothing is sent to a disabled webhook.',
    response: { status: 202, description: 'The event will be sent.', body: DeliveryDto, example: DUE },
    errors: [WebhookNotFoundError, WebhookDisabledError],
  })
  test(
    @WebhookId() id: number,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<DeliveryDto> {
    return this.webhooks.test(id, clientId, source);
  }

  @Get(':webhookId/deliveries')
  @ExperimentalOperation({
    id: 'listDeliveries',
    summary: 'List deliveries',
    description: 'Returns a page of the deliveries of a webhook from the last 30 days, newest first.',
    response: { description: 'One page of deliveries.', page: DeliveryDto, example: [DELIVERED] },
    errors: [WebhookNotFoundError],
  })
  listDeliveries(
    @WebhookId() id: number,
    @Query() query: ListDeliveriesQuery,
    @ClientId() clientId: CallerId,
  ): Promise<Page<DeliveryDto>> {
    return this.webhooks.listDeliveries(id, query, clientId);
  }

  @Post(':webhookId/deliveries/:deliveryId/retry')
  @ExperimentalOperation({
    id: 'retryDelivery',
    summary: 'Retry a delivery',
    description:
      'Sends the event now, even if it was delivered. If the attempt fails, the retries start over.',
    response: { status: 202, description: 'The event will be sent.', body: DeliveryDto, example: DUE },
    errors: [WebhookNotFoundError, DeliveryNotFoundError],
  })
  retry(
    @WebhookId() id: number,
    @IdParam('deliveryId', 'Identifier of the delivery (Delivery.id).') deliveryId: number,
    @ClientId() clientId: CallerId,
    @Source() source: CommandSource,
  ): Promise<DeliveryDto> {
    return this.webhooks.retry(id, deliveryId, clientId, source);
  }
}

function withoutSecret({ secret: _secret, ...webhook }: WebhookWithSecretDto): WebhookDto {
  return webhook;
}
