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
  markers?: Record<string, unknown>;
}

const beta = { 'x-stability': 'beta' };
const experimental = { 'x-stability': 'experimental' };
const list = (operation: string, id: string, tag: string, schema: string, markers = {}): Row => {
  return { operation, id, tag, answers: [200, schema], others: [], markers };
};

/** Every operation, and what it can answer. */
export const TABLE: Row[] = [
  list('GET /pets', 'listPets', 'Animals', 'Pets'),
  {
    operation: 'POST /pets',
    id: 'createPet',
    tag: 'Animals',
    answers: [201, 'Pet'],
    others: [...BODY, 409, 422],
    body: 'NewPet',
  },
  {
    operation: 'GET /pets/{petId}',
    id: 'getPet',
    tag: 'Animals',
    answers: [200, 'Pet'],
    others: [304, 404, 410],
    markers: { deprecated: true, 'x-deprecated-sunset': '2027-11-01' },
  },
  {
    operation: 'PUT /pets/{petId}',
    id: 'replacePet',
    tag: 'Animals',
    answers: [200, 'Pet'],
    others: [...BODY, 404, 409, 412, 422],
    body: 'NewPet',
  },
  {
    operation: 'PATCH /pets/{petId}',
    id: 'updatePet',
    tag: 'Animals',
    answers: [200, 'Pet'],
    others: [...BODY, 404, 409, 412, 422],
    body: 'PetPatch',
    markers: beta,
  },
  {
    operation: 'DELETE /pets/{petId}',
    id: 'deletePet',
    tag: 'Animals',
    answers: [204, ''],
    others: [404, 409, 412],
  },
  list('GET /categories', 'listCategories', 'Categories', 'Category[]'),
  {
    operation: 'POST /categories',
    id: 'createCategory',
    tag: 'Categories',
    answers: [201, 'Category'],
    others: [...BODY, 409, 422],
    body: 'NewCategory',
  },
  {
    operation: 'GET /categories/{categoryId}',
    id: 'getCategory',
    tag: 'Categories',
    answers: [200, 'Category'],
    others: [304, 404],
  },
  {
    operation: 'PUT /categories/{categoryId}',
    id: 'replaceCategory',
    tag: 'Categories',
    answers: [200, 'Category'],
    others: [...BODY, 404, 412],
    body: 'NewCategory',
  },
  {
    operation: 'DELETE /categories/{categoryId}',
    id: 'deleteCategory',
    tag: 'Categories',
    answers: [204, ''],
    others: [404, 409, 412],
  },
  list('GET /store/orders', 'listOrders', 'Orders', 'Order[]', { 'x-hideTryItPanel': true }),
  {
    operation: 'POST /store/orders',
    id: 'placeOrder',
    tag: 'Orders',
    answers: [201, 'Order'],
    others: [...BODY, 409, 422],
    body: 'NewOrder',
  },
  {
    operation: 'GET /store/orders/{orderId}',
    id: 'getOrder',
    tag: 'Orders',
    answers: [200, 'Order'],
    others: [304, 404],
  },
  {
    operation: 'PATCH /store/orders/{orderId}',
    id: 'updateOrder',
    tag: 'Orders',
    answers: [200, 'Order'],
    others: [...BODY, 404, 409, 412],
    body: 'OrderPatch',
    markers: beta,
  },
  {
    operation: 'DELETE /store/orders/{orderId}',
    id: 'cancelOrder',
    tag: 'Orders',
    answers: [204, ''],
    others: [404, 409, 412],
  },
  list('GET /store/inventory', 'listInventory', 'Inventory', 'InventoryItem[]'),
  {
    operation: 'GET /store/inventory/{petId}',
    id: 'getInventory',
    tag: 'Inventory',
    answers: [200, 'InventoryItem'],
    others: [304, 404],
  },
  {
    operation: 'PUT /store/inventory/{petId}',
    id: 'setInventory',
    tag: 'Inventory',
    answers: [200, 'InventoryItem'],
    others: [...BODY, 404, 412],
    body: 'InventoryUpdate',
  },
  {
    operation: 'POST /store/inventory/{petId}/adjustments',
    id: 'adjustInventory',
    tag: 'Inventory',
    answers: [200, 'InventoryItem'],
    others: [...BODY, 404, 409, 422],
    body: 'InventoryAdjustment',
    markers: experimental,
  },
  list('GET /events', 'listEvents', 'Events', 'Event[]', experimental),
  list('GET /webhooks', 'listWebhooks', 'Events', 'Webhook[]', experimental),
  {
    operation: 'POST /webhooks',
    id: 'createWebhook',
    tag: 'Events',
    answers: [201, 'WebhookWithSecret'],
    others: [...BODY, 409, 422],
    body: 'NewWebhook',
    markers: experimental,
  },
  {
    operation: 'GET /webhooks/{webhookId}',
    id: 'getWebhook',
    tag: 'Events',
    answers: [200, 'Webhook'],
    others: [304, 404],
    markers: experimental,
  },
  {
    operation: 'PATCH /webhooks/{webhookId}',
    id: 'updateWebhook',
    tag: 'Events',
    answers: [200, 'Webhook'],
    others: [...BODY, 404, 412, 422],
    body: 'WebhookPatch',
    markers: experimental,
  },
  {
    operation: 'DELETE /webhooks/{webhookId}',
    id: 'deleteWebhook',
    tag: 'Events',
    answers: [204, ''],
    others: [404, 412],
    markers: experimental,
  },
  {
    operation: 'POST /webhooks/{webhookId}/secret',
    id: 'rotateWebhookSecret',
    tag: 'Events',
    answers: [200, 'WebhookWithSecret'],
    others: [...BODY, 404, 409, 422],
    markers: experimental,
  },
  {
    operation: 'POST /webhooks/{webhookId}/test',
    id: 'testWebhook',
    tag: 'Events',
    answers: [202, 'Delivery'],
    others: [...BODY, 404, 409, 422],
    markers: experimental,
  },
  {
    operation: 'GET /webhooks/{webhookId}/deliveries',
    id: 'listDeliveries',
    tag: 'Events',
    answers: [200, 'Delivery[]'],
    others: [404],
    markers: experimental,
  },
  {
    operation: 'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry',
    id: 'retryDelivery',
    tag: 'Events',
    answers: [202, 'Delivery'],
    others: [...BODY, 404, 409, 422],
    markers: experimental,
  },
  list('GET /key', 'getKey', 'Account', 'Key', beta),
  list('GET /rate-limit', 'getRateLimit', 'Account', 'RateLimitStatus', beta),
  list('GET /usage', 'getUsage', 'Account', 'Usage', experimental),
];
