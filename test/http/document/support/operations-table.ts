/** Statuses of operations with a body. */
const BODY = [413, 415];

export interface Row {
  operation: string;
  id: string;
  tag: string;
  /** Schema of the successful answer; `[]` after it for an array; none for 204. */
  answers: [status: number, schema: string];
  others: number[];
  body?: string;
  bodyIsOptional?: boolean;
  markers?: Record<string, unknown>;
}

const beta = { 'x-stability': 'beta' };
const experimental = { 'x-stability': 'experimental' };
const row = (
  operation: string,
  id: string,
  tag: string,
  answers: Row['answers'],
  others: number[],
  more: Pick<Row, 'body' | 'bodyIsOptional' | 'markers'> = {},
): Row => ({ operation, id, tag, answers, others, ...more });
const list = (operation: string, id: string, tag: string, schema: string, markers = {}): Row =>
  row(operation, id, tag, [200, schema], [], { markers });

/** Every operation, and what it can answer. */
export const TABLE: Row[] = [
  row('GET /pets', 'listPets', 'Animals', [200, 'Pets'], [304]),
  row('POST /pets', 'createPet', 'Animals', [201, 'Pet'], [...BODY, 409, 422], { body: 'NewPet' }),
  row('GET /pets/{petId}', 'getPet', 'Animals', [200, 'Pet'], [304, 404, 410], {
    markers: { deprecated: true, 'x-deprecated-sunset': '2027-11-01' },
  }),
  row('PUT /pets/{petId}', 'replacePet', 'Animals', [200, 'Pet'], [...BODY, 404, 409, 412, 422], {
    body: 'NewPet',
  }),
  row('PATCH /pets/{petId}', 'updatePet', 'Animals', [200, 'Pet'], [...BODY, 404, 409, 412, 422], {
    body: 'PetPatch',
    markers: beta,
  }),
  row('DELETE /pets/{petId}', 'deletePet', 'Animals', [204, ''], [404, 409, 412]),
  list('GET /categories', 'listCategories', 'Categories', 'Category[]'),
  row('POST /categories', 'createCategory', 'Categories', [201, 'Category'], [...BODY, 409, 422], {
    body: 'NewCategory',
  }),
  row('GET /categories/{categoryId}', 'getCategory', 'Categories', [200, 'Category'], [304, 404]),
  row(
    'PUT /categories/{categoryId}',
    'replaceCategory',
    'Categories',
    [200, 'Category'],
    [...BODY, 404, 412],
    { body: 'NewCategory' },
  ),
  row('DELETE /categories/{categoryId}', 'deleteCategory', 'Categories', [204, ''], [404, 409, 412]),
  list('GET /store/orders', 'listOrders', 'Orders', 'Order[]', { 'x-hideTryItPanel': true }),
  row('POST /store/orders', 'placeOrder', 'Orders', [201, 'Order'], [...BODY, 409, 422], {
    body: 'NewOrder',
  }),
  row('GET /store/orders/{orderId}', 'getOrder', 'Orders', [200, 'Order'], [304, 404]),
  row('PATCH /store/orders/{orderId}', 'updateOrder', 'Orders', [200, 'Order'], [...BODY, 404, 409, 412], {
    body: 'OrderPatch',
    markers: beta,
  }),
  row('DELETE /store/orders/{orderId}', 'cancelOrder', 'Orders', [204, ''], [404, 409, 412]),
  list('GET /store/inventory', 'listInventory', 'Inventory', 'InventoryItem[]'),
  row('GET /store/inventory/{petId}', 'getInventory', 'Inventory', [200, 'InventoryItem'], [304, 404]),
  row(
    'PUT /store/inventory/{petId}',
    'setInventory',
    'Inventory',
    [200, 'InventoryItem'],
    [...BODY, 404, 412],
    { body: 'InventoryUpdate' },
  ),
  row(
    'POST /store/inventory/{petId}/adjustments',
    'adjustInventory',
    'Inventory',
    [200, 'InventoryItem'],
    [...BODY, 404, 409, 422],
    { body: 'InventoryAdjustment', markers: experimental },
  ),
  list('GET /events', 'listEvents', 'Events', 'Event[]', experimental),
  list('GET /webhooks', 'listWebhooks', 'Events', 'Webhook[]', experimental),
  row('POST /webhooks', 'createWebhook', 'Events', [201, 'WebhookWithSecret'], [...BODY, 409, 422], {
    body: 'NewWebhook',
    markers: experimental,
  }),
  row('GET /webhooks/{webhookId}', 'getWebhook', 'Events', [200, 'Webhook'], [304, 404], {
    markers: experimental,
  }),
  row('PATCH /webhooks/{webhookId}', 'updateWebhook', 'Events', [200, 'Webhook'], [...BODY, 404, 412, 422], {
    body: 'WebhookPatch',
    markers: experimental,
  }),
  row('DELETE /webhooks/{webhookId}', 'deleteWebhook', 'Events', [204, ''], [404, 412], {
    markers: experimental,
  }),
  row(
    'POST /webhooks/{webhookId}/secret',
    'rotateWebhookSecret',
    'Events',
    [200, 'WebhookWithSecret'],
    [...BODY, 404, 409, 422],
    { body: 'SecretRotation', bodyIsOptional: true, markers: experimental },
  ),
  row(
    'POST /webhooks/{webhookId}/test',
    'testWebhook',
    'Events',
    [202, 'Delivery'],
    [...BODY, 404, 409, 422],
    { markers: experimental },
  ),
  row('GET /webhooks/{webhookId}/deliveries', 'listDeliveries', 'Events', [200, 'Delivery[]'], [404], {
    markers: experimental,
  }),
  row(
    'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry',
    'retryDelivery',
    'Events',
    [202, 'Delivery'],
    [...BODY, 404, 409, 422],
    { markers: experimental },
  ),
  list('GET /key', 'getKey', 'Account', 'Key', beta),
  list('GET /rate-limit', 'getRateLimit', 'Account', 'RateLimitStatus', beta),
  list('GET /usage', 'getUsage', 'Account', 'Usage', experimental),
];
