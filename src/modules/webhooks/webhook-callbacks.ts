// This file describes the deliveries of webhooks in the OpenAPI document, as callbacks of the operation createWebhook.
import {
  type OperationObject,
  type ParameterObject,
  type SchemaObject,
  getSchemaPath,
} from '@nestjs/swagger';
import { ID_SCHEMA } from '#libs/http';
import { EVENT_EXAMPLE, RESOURCES, anyEvent, eventSchema } from '../events';
import { TEST_TYPE } from './webhook.entity';

function header(name: string, description: string, pattern: string, example: string): ParameterObject {
  return {
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string', maxLength: 1_000, pattern },
    example,
  };
}

const HEADERS = [
  header('webhook-id', 'The event’s id, the same at every attempt.', '^evt_[A-Za-z0-9_]+$', EVENT_EXAMPLE.id),
  header('webhook-timestamp', 'When the attempt was made, in unix seconds.', '^[0-9]+$', '1795253400'),
  header(
    'webhook-signature',
    'For each valid secret, separated by spaces: `v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`.',
    '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

const RESPONSES = {
  '2XX': { description: 'The event has arrived.' },
  '410': { description: 'The webhook is disabled.' },
  '429': {
    description:
      'Retried later. Before `Retry-After`, nothing else is sent to the webhook. The same applies to 502, 503 and 504.',
  },
  default: { description: 'Retried later. Redirects are not followed.' },
};

export const WEBHOOK_SCHEMAS: Record<string, SchemaObject> = {
  TestEvent: eventSchema({
    description: 'The event that testWebhook sends. Nothing has happened in the store.',
    id: '^evt_test_[0-9]+$',
    types: [TEST_TYPE],
    data: { $ref: getSchemaPath('TestEventData') },
  }),
  TestEventData: {
    type: 'object',
    description: 'The webhook that is tested.',
    required: ['webhookId'],
    properties: {
      webhookId: { ...ID_SCHEMA, description: 'Identifier of the webhook.', example: 1 },
    },
  },
  // List all event schemas in one flat `oneOf`, because some code generators cannot handle a nested `oneOf`.
  WebhookEvent: anyEvent('An event as a webhook receives it. The schema of `data` follows from `type`.', [
    ...RESOURCES,
    { schema: 'TestEvent', types: [TEST_TYPE] },
  ]),
};

export const CALLBACKS: OperationObject['callbacks'] = {
  event: {
    '{$request.body#/url}': {
      post: {
        operationId: 'receiveEvent',
        summary: 'Receive an event',
        description:
          'Sent for every event of the types that the webhook subscribes to, at least once and in no particular order. Verify the signature, and respond 2xx within 15 seconds.',
        tags: ['Webhooks'],
        security: [],
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: getSchemaPath('WebhookEvent') },
              example: EVENT_EXAMPLE,
            },
          },
        },
        responses: RESPONSES,
      },
    },
  },
};
