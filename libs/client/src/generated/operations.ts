// Generated from openapi.yaml by `npm run generate`.
export const OPERATIONS = {
  /**
   * List pets.
   * Returns a page of pets, sorted by id, or with a `name` by lower-case name and id. `Link` leads to the next page. A pet must match all filters. With a `name` and a rare `status` or `categoryId`, a page may be short or empty although `Link` leads to more pets.
   */
  listPets: ['get', '/pets', false, 'array'],
  /**
   * Create a pet.
   * The service assigns the id. The pet starts with one unit in stock, or with none if it is created as `sold`. Send an `Idempotency-Key` to make the request safe to retry.
   */
  createPet: ['post', '/pets', true, 'object'],
  /**
   * Get a pet.
   * @deprecated Deprecated. Use `GET /pets?id={petId}` instead, which returns an array with one pet or none.
   */
  getPet: ['get', '/pets/{petId}', false, 'object'],
  /**
   * Replace a pet.
   * Replaces all fields. Without a `status`, the pet keeps its status. A pet with stock can be held (`pending` or `sold`) and made `available` again. A pet without stock cannot become `available`, and a `sold` pet cannot become `pending`.
   */
  replacePet: ['put', '/pets/{petId}', true, 'object'],
  /**
   * Update a pet.
   * Updates the fields in the body, a JSON Merge Patch (RFC 7396). Fields cannot be removed, so null is not accepted. `status` can change as in a PUT.
   */
  updatePet: ['patch', '/pets/{petId}', true, 'object'],
  /**
   * Delete a pet.
   * Deletes a pet that has no open orders.
   */
  deletePet: ['delete', '/pets/{petId}', false, 'nothing'],
  /**
   * List categories.
   * Returns a page of categories, sorted by id, or with a `name` by lower-case name and id. `Link` leads to the next page. A page ends early before it grows past 256 KiB.
   */
  listCategories: ['get', '/categories', false, 'array'],
  /**
   * Create a category.
   * The service assigns the id. Names need not be unique. Send an `Idempotency-Key` to make the request safe to retry.
   */
  createCategory: ['post', '/categories', true, 'object'],
  /**
   * Get a category.
   * Returns one category. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
   */
  getCategory: ['get', '/categories/{categoryId}', false, 'object'],
  /**
   * Replace a category.
   * Replaces name and description. Without a `description` the old one is removed.
   */
  replaceCategory: ['put', '/categories/{categoryId}', true, 'object'],
  /**
   * Delete a category.
   * Deletes a category that no pet belongs to.
   */
  deleteCategory: ['delete', '/categories/{categoryId}', false, 'nothing'],
  /**
   * List orders.
   * Returns a page of orders, sorted by id. `Link` leads to the next page. Cancelled orders are not included.
   */
  listOrders: ['get', '/store/orders', false, 'array'],
  /**
   * Place an order.
   * The pet must be `available` and have enough units in stock. The order takes them immediately; when the last one is taken, the pet becomes `pending`, and `sold` once no order is open any more. `complete: true` places and fulfils the order in one step. Send an `Idempotency-Key` to make the request safe to retry.
   */
  placeOrder: ['post', '/store/orders', true, 'object'],
  /**
   * Get an order.
   * Returns one order. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
   */
  getOrder: ['get', '/store/orders/{orderId}', false, 'object'],
  /**
   * Update or complete an order.
   * A JSON Merge Patch (RFC 7396). `shipDate: null` removes the date. `complete: true` fulfils the order and is final. If nothing is left in stock and no order is open, the pet becomes `sold`.
   */
  updateOrder: ['patch', '/store/orders/{orderId}', true, 'object'],
  /**
   * Cancel an order.
   * Returns the units of an open order to the stock. If the stock was 0, the pet becomes `available` again. A pet that had units in stock keeps its status. A complete order cannot be cancelled.
   */
  cancelOrder: ['delete', '/store/orders/{orderId}', false, 'nothing'],
  /**
   * List stock counts.
   * Returns a page of stock counts, sorted by petId. `Link` leads to the next page.
   */
  listInventory: ['get', '/store/inventory', false, 'array'],
  /**
   * Get the stock count of a pet.
   * Returns the current stock count and status of one pet.
   */
  getInventory: ['get', '/store/inventory/{petId}', false, 'object'],
  /**
   * Set the stock count of a pet.
   * Sets the stock count. If the count rises from 0, the pet becomes `available`. At 0, the pet becomes `pending` while an order is open, otherwise `sold`. A pet that a caller has held stays held until its stock is 0. Send `If-Match` to avoid overwriting changes that you have not seen, or adjust the count instead.
   */
  setInventory: ['put', '/store/inventory/{petId}', true, 'object'],
  /**
   * Adjust the stock count of a pet.
   * Adds units to the stock or removes them in one step, without reading the count first. The status follows as if the count were set.
   */
  adjustInventory: ['post', '/store/inventory/{petId}/adjustments', true, 'object'],
  /**
   * List events.
   * Returns a page of events, oldest first, in one order for all callers. The events of a pet, an order or a category are in the order in which they happened. Follow the link to the next page, which every page has, to read each event once. `wait` keeps an empty response open until an event comes, and counts as one request. `cursor=now` starts with the next event instead of the oldest one. With a filter, a page may be short or empty although more events follow. At the end of the feed, the link stays the same. Events are kept for 30 days.
   */
  listEvents: ['get', '/events', false, 'array'],
  /**
   * List webhooks.
   * Returns your client's webhooks, sorted by id.
   */
  listWebhooks: ['get', '/webhooks', false, 'array'],
  /**
   * Create a webhook.
   * Events are sent to `url` from now on. Only this response contains the signing secret; keep it. Your client may have 10 webhooks.
   */
  createWebhook: ['post', '/webhooks', true, 'object'],
  /**
   * Get a webhook.
   * Returns one webhook, without its secret.
   */
  getWebhook: ['get', '/webhooks/{webhookId}', false, 'object'],
  /**
   * Update a webhook.
   * A JSON Merge Patch (RFC 7396). The secret does not change.
   */
  updateWebhook: ['patch', '/webhooks/{webhookId}', true, 'object'],
  /**
   * Delete a webhook.
   * Deletes a webhook and its deliveries. Nothing more is sent to its URL.
   */
  deleteWebhook: ['delete', '/webhooks/{webhookId}', false, 'nothing'],
  /**
   * Rotate the secret.
   * Creates a new secret, which only this response contains. For 24 hours, the old secret signs too, so that your receiver can switch. Five secrets may be valid at a time.
   */
  rotateWebhookSecret: ['post', '/webhooks/{webhookId}/secret', false, 'object'],
  /**
   * Send a test event.
   * Sends an event of type `webhook.test`, whatever types the webhook subscribes to. Nothing is sent to a disabled webhook.
   */
  testWebhook: ['post', '/webhooks/{webhookId}/test', false, 'object'],
  /**
   * List deliveries.
   * Returns a page of the deliveries of a webhook from the last 30 days, newest first.
   */
  listDeliveries: ['get', '/webhooks/{webhookId}/deliveries', false, 'array'],
  /**
   * Retry a delivery.
   * Sends the event now, even if it was delivered. If the attempt fails, the retries start over.
   */
  retryDelivery: ['post', '/webhooks/{webhookId}/deliveries/{deliveryId}/retry', false, 'object'],
  /**
   * Get your API key.
   * Describes the API key that you send: its client and plan, its scopes, and when it expires. The response never contains the key itself. The operation needs no scope.
   */
  getKey: ['get', '/key', false, 'object'],
  /**
   * Get your rate limit status.
   * Returns your plan, both windows and the bans of your key. Any valid key may send this request, whatever its scopes and even during a ban, and the request never counts. Without a valid key, the request counts towards the limit of the IP address, and is refused above that limit.
   */
  getRateLimit: ['get', '/rate-limit', false, 'object'],
  /**
   * Get your daily usage.
   * Returns your client's counted requests for each UTC day, up to 90 days back.
   */
  getUsage: ['get', '/usage', false, 'object'],
} as const;
