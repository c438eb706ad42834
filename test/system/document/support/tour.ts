import type { Operation } from '../../../support/document';
import type { JudgedAnswer } from './prism';

interface Request {
  /** `METHOD path` of the document. */
  operation: string;
  target: string;
  status: number;
  headers: Record<string, string>;
  body?: unknown;
}

/** What to send next, after the answer to what was sent before. */
export type Step = (last: JudgedAnswer | undefined) => Request;

export interface TourKeys {
  full: string;
  /** May read only. */
  reader: string;
  /** Has one request a minute. */
  poor: string;
}

interface Details {
  target?: string;
  body?: unknown;
  headers?: Record<string, string>;
  key?: string;
}

/**
 * Every operation with the examples that the document has for its body, and what its callers usually meet beside success. In
 * a store that is empty at first, so that the ids of the examples are the first ones.
 */
export function tourOf(operations: Map<string, Operation>, keys: TourKeys): Step[] {
  const send = (status: number, operation: string, { target, body, headers, key }: Details = {}): Step => {
    const [, path = ''] = operation.split(' ');
    return () => ({
      operation,
      target: target ?? path.replace(/\{\w+\}/g, '1'),
      status,
      headers: { 'X-API-Key': key ?? keys.full, ...headers },
      body,
    });
  };
  const examples = (status: number, operation: string): Step[] => {
    const content = operations.get(operation)!.requestBody!.content['application/json']!;
    return Object.values(content.examples!).map(({ value }) => send(status, operation, { body: value }));
  };
  /** Sends the ETag of the last answer along. */
  const withTag =
    (field: 'If-Match' | 'If-None-Match', step: Step): Step =>
    (last) => {
      const request = step(last);
      return { ...request, headers: { ...request.headers, [field]: last!.headers.get('etag')! } };
    };
  return [
    ...catalogue(send, examples, withTag),
    ...orders(send, examples, withTag),
    ...refusals(send, keys),
    ...webhooks(send, examples),
    send(200, 'GET /key'),
    send(200, 'GET /rate-limit'),
    send(200, 'GET /usage', { target: '/usage?days=7' }),
  ];
}

type Send = (status: number, operation: string, details?: Details) => Step;
type SendExamples = (status: number, operation: string) => Step[];
type WithTag = (field: 'If-Match' | 'If-None-Match', step: Step) => Step;

function catalogue(send: Send, examples: SendExamples, withTag: WithTag): Step[] {
  return [
    ...examples(201, 'POST /categories'),
    ...examples(200, 'PUT /categories/{categoryId}'),
    send(200, 'GET /categories/{categoryId}'),
    withTag('If-None-Match', send(304, 'GET /categories/{categoryId}')),
    send(200, 'GET /categories', { target: '/categories?name=do&limit=1' }),
    send(204, 'DELETE /categories/{categoryId}', { target: '/categories/2' }),
    ...examples(201, 'POST /pets'),
    ...examples(200, 'PUT /pets/{petId}'),
    ...examples(200, 'PATCH /pets/{petId}'),
    send(200, 'GET /pets/{petId}'),
    withTag('If-Match', send(200, 'PATCH /pets/{petId}', { body: { name: 'Ada' } })),
    send(412, 'PATCH /pets/{petId}', { headers: { 'If-Match': '"stale"' }, body: { name: 'Ada' } }),
    send(409, 'PATCH /pets/{petId}', { body: { status: 'pending' } }),
    send(200, 'GET /pets', { target: '/pets?limit=1&status=sold&status=available&id=1&id=2&categoryId=1' }),
    send(409, 'DELETE /categories/{categoryId}'),
    send(204, 'DELETE /pets/{petId}', { target: '/pets/2' }),
    ...examples(200, 'PUT /store/inventory/{petId}'),
    send(200, 'GET /store/inventory/{petId}'),
    send(200, 'GET /store/inventory', { target: '/store/inventory?status=available' }),
    send(200, 'POST /store/inventory/{petId}/adjustments', { body: { delta: 9 } }),
    ...examples(200, 'POST /store/inventory/{petId}/adjustments'),
    send(409, 'POST /store/inventory/{petId}/adjustments', { body: { delta: -100 } }),
  ];
}

function orders(send: Send, examples: SendExamples, withTag: WithTag): Step[] {
  const idempotent = { 'Idempotency-Key': 'tour-1' };
  return [
    ...examples(201, 'POST /store/orders'),
    send(201, 'POST /store/orders', { headers: idempotent, body: { petId: 1 } }),
    send(201, 'POST /store/orders', { headers: idempotent, body: { petId: 1 } }),
    send(422, 'POST /store/orders', { headers: idempotent, body: { petId: 1, quantity: 2 } }),
    send(409, 'POST /store/orders', { body: { petId: 1, quantity: 1000 } }),
    send(422, 'POST /store/orders', { body: { petId: 99 } }),
    send(409, 'DELETE /pets/{petId}'),
    ...examples(200, 'PATCH /store/orders/{orderId}').toReversed(),
    send(200, 'GET /store/orders/{orderId}'),
    withTag('If-None-Match', send(304, 'GET /store/orders/{orderId}')),
    send(409, 'DELETE /store/orders/{orderId}'),
    send(204, 'DELETE /store/orders/{orderId}', { target: '/store/orders/2' }),
    send(200, 'GET /store/orders', { target: '/store/orders?petId=1&complete=false&limit=1' }),
  ];
}

function webhooks(send: Send, examples: SendExamples): Step[] {
  return [
    send(200, 'GET /events', { target: '/events?limit=2' }),
    ...examples(201, 'POST /webhooks'),
    send(200, 'GET /webhooks'),
    send(200, 'GET /webhooks/{webhookId}'),
    send(200, 'PATCH /webhooks/{webhookId}', { body: { description: 'Stock' } }),
    send(200, 'POST /webhooks/{webhookId}/secret'),
    send(202, 'POST /webhooks/{webhookId}/test'),
    send(200, 'GET /webhooks/{webhookId}/deliveries'),
    send(202, 'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry'),
    send(404, 'GET /webhooks/{webhookId}', { target: '/webhooks/99' }),
    send(204, 'DELETE /webhooks/{webhookId}'),
  ];
}

function refusals(send: Send, keys: TourKeys): Step[] {
  return [
    send(404, 'GET /pets/{petId}', { target: '/pets/99' }),
    send(404, 'GET /categories/{categoryId}', { target: '/categories/99' }),
    send(404, 'GET /store/orders/{orderId}', { target: '/store/orders/99' }),
    send(422, 'POST /pets', { body: { name: 'Rex', categoryId: 99 } }),
    send(400, 'GET /pets', { target: '/pets?cursor=nonsense' }),
    send(400, 'GET /pets', { headers: { Authorization: 'Bearer another' } }),
    send(401, 'GET /pets', { key: 'psk_live_mistyped' }),
    send(403, 'POST /categories', { key: keys.reader, body: { name: 'Cats' } }),
    send(200, 'GET /pets', { key: keys.poor }),
    ...Array.from({ length: 10 }, () => send(429, 'GET /pets', { key: keys.poor })),
    send(403, 'GET /pets', { key: keys.poor }),
  ];
}
