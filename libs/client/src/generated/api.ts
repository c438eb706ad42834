// Generated from the interface description by `npm run generate`.

import type { ApiPromise, CallOptions, ConditionalOptions, List } from '../results.ts';

/**
 * The API key that sent the request, and the client it belongs to.
 */
export interface Key {
  /**
   * Identifier of the key. It stays the same for the life of the key.
   * @example 1
   */
  id: number;
  /**
   * What the key is for. Absent for a key without a name.
   * @example price list
   */
  name?: string;
  /**
   * The last four characters of the key.
   * @example x7Qa
   */
  endsWith: string;
  /**
   * Name of the client. All its keys share its limits.
   * @example acme
   */
  client: string;
  /**
   * The plan of the client.
   * @example free
   */
  plan: Plan;
  /**
   * What the key may do: `read` (GET and HEAD), `write` (all other methods), or both.
   * @example ["read","write"]
   */
  scopes: ('read' | 'write')[];
  /**
   * When the key was issued.
   * @example 2026-11-01T08:00:00.000Z
   */
  createdAt: string;
  /**
   * When the key stops working. Absent for a key that does not expire.
   * @example 2027-11-01T08:00:00.000Z
   */
  expiresAt?: string;
  /**
   * When the overlap of a rotation ends. Present only for a key that has been replaced: switch to the new key before then.
   * @example 2026-11-22T09:30:00.000Z
   */
  overlapEndsAt?: string;
}

/**
 * The plan of the client.
 */
export type Plan = 'free' | 'pro' | 'business' | 'enterprise';

/**
 * The state of one window.
 */
export interface RateLimitWindow {
  /**
   * Requests that the window allows.
   * @example 60
   */
  limit: number;
  /**
   * Requests left in the window.
   * @example 59
   */
  remaining: number;
  /**
   * When the window ends.
   * @example 2026-11-21T09:31:00.000Z
   */
  resetAt: string;
}

/**
 * The ban state of a key.
 */
export interface RateLimitBan {
  /**
   * Whether the key is banned now.
   * @example false
   */
  banned: boolean;
  /**
   * When the ban ends. Present only during a ban.
   * @example 2026-11-21T09:33:00.000Z
   */
  until?: string;
  /**
   * Refused requests left before the next ban. They are counted in series of 60 seconds that begin with a 429, without those of its first second.
   * @example 11
   */
  refusalsBeforeBan: number;
  /**
   * How long the next ban would last, in seconds.
   * @example 120
   */
  nextBanSeconds: number;
}

/**
 * The rate limit status of a client and its key.
 */
export interface RateLimitStatus {
  /**
   * The plan of the client.
   * @example free
   */
  plan: Plan;
  /**
   * The window of 60 seconds.
   */
  minute: RateLimitWindow;
  /**
   * The window of the UTC day.
   */
  day: RateLimitWindow;
  /**
   * Bans of the key.
   */
  ban: RateLimitBan;
}

/**
 * The requests of one day.
 */
export interface UsageDay {
  /**
   * The UTC day.
   * @example 2026-11-21
   */
  date: string;
  /**
   * Requests counted on that day.
   * @example 42
   */
  requests: number;
}

/**
 * The requests of a client, by day.
 */
export interface Usage {
  /**
   * One entry per day, oldest first, ending with today.
   */
  days: UsageDay[];
}

/**
 * A category that pets belong to. `description` is left out if it is not set.
 */
export interface Category {
  /**
   * Category name (for instance a kind of pet).
   * @example Dogs
   */
  name: string;
  /**
   * Short description of the category.
   * @example Loyal, loud and always hungry.
   */
  description?: string;
  /**
   * Unique identifier assigned on creation.
   * @example 1
   */
  id: number;
}

/**
 * The body to create or replace a category.
 */
export interface NewCategory {
  /**
   * Category name (for instance a kind of pet).
   * @example Dogs
   */
  name: string;
  /**
   * Short description of the category.
   * @example Loyal, loud and always hungry.
   */
  description?: string;
}

/**
 * Status of the pet.
 */
export type PetStatus = 'available' | 'pending' | 'sold';

/**
 * A pet of the store.
 */
export interface Pet {
  /**
   * The pet's name.
   * @example Rex
   */
  name: string;
  /**
   * Identifier of the category the pet belongs to.
   * @example 1
   */
  categoryId: number;
  /**
   * Status of the pet.
   * @example available
   */
  status: PetStatus;
  /**
   * Unique identifier assigned on creation.
   * @example 1
   */
  id: number;
}

/**
 * The body to create or replace a pet.
 */
export interface NewPet {
  /**
   * The pet's name.
   * @example Rex
   */
  name: string;
  /**
   * Identifier of the category the pet belongs to.
   * @example 1
   */
  categoryId: number;
  /**
   * Status of the pet. Left out, a new pet is `available`, and a replaced one keeps its status.
   * @example available
   */
  status?: PetStatus;
}

/**
 * A JSON Merge Patch (RFC 7396). Fields that are left out do not change.
 */
export interface PetPatch {
  /**
   * The pet's name.
   * @example Rex
   */
  name?: string;
  /**
   * Identifier of the category the pet belongs to.
   * @example 1
   */
  categoryId?: number;
  /**
   * Status of the pet.
   * @example available
   */
  status?: PetStatus;
}

/**
 * The stock of one pet.
 */
export interface InventoryItem {
  /**
   * Identifier of the pet.
   * @example 1
   */
  petId: number;
  /**
   * Current stock count.
   * @example 3
   */
  quantity: number;
  /**
   * Status of the pet.
   * @example available
   */
  status: PetStatus;
}

/**
 * The body to set a stock count.
 */
export interface InventoryUpdate {
  /**
   * The new stock count.
   * @example 3
   */
  quantity: number;
}

/**
 * The body to adjust a stock count.
 */
export interface InventoryAdjustment {
  /**
   * Units to add to the stock, or to remove if negative. Not 0.
   * @example -2
   */
  delta: number;
}

/**
 * An order for a pet. `shipDate` is left out if it is not set.
 */
export interface Order {
  /**
   * Unique order identifier.
   * @example 1
   */
  id: number;
  /**
   * Identifier of the pet in the order.
   * @example 1
   */
  petId: number;
  /**
   * Number of units ordered.
   * @example 1
   */
  quantity: number;
  /**
   * Expected or actual ship date.
   * @example 2026-11-24T09:30:00.000Z
   */
  shipDate?: string;
  /**
   * Whether the order has been fulfilled.
   * @example false
   */
  complete: boolean;
}

/**
 * The body to place an order.
 */
export interface NewOrder {
  /**
   * Identifier of the pet in the order.
   * @example 1
   */
  petId: number;
  /**
   * Number of units ordered.
   */
  quantity?: number;
  /**
   * Expected or actual ship date.
   * @example 2026-11-24T09:30:00.000Z
   */
  shipDate?: string;
  /**
   * Whether the order has been fulfilled.
   */
  complete?: boolean;
}

/**
 * A JSON Merge Patch (RFC 7396). Fields that are left out do not change.
 */
export interface OrderPatch {
  /**
   * Expected or actual ship date. Null removes it.
   * @example 2026-11-24T09:30:00.000Z
   */
  shipDate?: string | null;
  /**
   * Whether the order has been fulfilled. True is final.
   * @example true
   */
  complete?: boolean;
}

/**
 * A URL that receives the events of the store.
 */
export interface Webhook {
  /**
   * Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
   * @example https://shop.example/events
   */
  url: string;
  /**
   * Types of events to send; all if left out.
   * @example ["order.placed","order.completed"]
   */
  types?: EventType[];
  /**
   * Your own note about the webhook.
   * @example Packing list printer
   */
  description?: string;
  /**
   * Unique webhook identifier.
   * @example 1
   */
  id: number;
  /**
   * Whether events are sent.
   * @example true
   */
  enabled: boolean;
  /**
   * Why the service disabled the webhook; left out if it did not.
   * @example The receiver responded 410 Gone.
   */
  disabledReason?: string;
  /**
   * When it was created.
   * @example 2026-11-21T09:30:00.000Z
   */
  createdAt: string;
}

/**
 * A webhook with its signing secret, which is shown once.
 */
export interface WebhookWithSecret {
  /**
   * Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
   * @example https://shop.example/events
   */
  url: string;
  /**
   * Types of events to send; all if left out.
   * @example ["order.placed","order.completed"]
   */
  types?: EventType[];
  /**
   * Your own note about the webhook.
   * @example Packing list printer
   */
  description?: string;
  /**
   * Unique webhook identifier.
   * @example 1
   */
  id: number;
  /**
   * Whether events are sent.
   * @example true
   */
  enabled: boolean;
  /**
   * Why the service disabled the webhook; left out if it did not.
   * @example The receiver responded 410 Gone.
   */
  disabledReason?: string;
  /**
   * When it was created.
   * @example 2026-11-21T09:30:00.000Z
   */
  createdAt: string;
  /**
   * The secret that signs deliveries: `whsec_` and 24 to 64 random bytes in base64.
   * @example whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=
   */
  secret: string;
}

/**
 * The body to create a webhook.
 */
export interface NewWebhook {
  /**
   * Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
   * @example https://shop.example/events
   */
  url: string;
  /**
   * Types of events to send; all if left out.
   * @example ["order.placed","order.completed"]
   */
  types?: EventType[];
  /**
   * Your own note about the webhook.
   * @example Packing list printer
   */
  description?: string;
  /**
   * Whether events are sent.
   */
  enabled?: boolean;
}

/**
 * A JSON Merge Patch (RFC 7396) of a webhook: only the fields to change.
 */
export interface WebhookPatch {
  /**
   * Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
   * @example https://shop.example/events
   */
  url?: string;
  /**
   * Types of events to send. Null means all.
   * @example ["order.placed","order.completed"]
   */
  types?: EventType[] | null;
  /**
   * Your own note about the webhook. Null removes it.
   * @example Packing list printer
   */
  description?: string | null;
  /**
   * Whether events are sent. Events that happen while it is false are not sent later; pending deliveries continue when it is true again.
   * @example true
   */
  enabled?: boolean;
}

/**
 * Whether it waits for an attempt (`pending`), arrived (`delivered`) or was given up (`failed`).
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/**
 * One event on its way to one webhook. Fields that do not apply are left out.
 */
export interface Delivery {
  /**
   * Unique delivery identifier.
   * @example 1
   */
  id: number;
  /**
   * The event’s id, which is the `webhook-id` of the request.
   * @example evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11
   */
  eventId: string;
  /**
   * The event’s type.
   * @example order.placed
   */
  type: string;
  /**
   * Whether it waits for an attempt (`pending`), arrived (`delivered`) or was given up (`failed`).
   * @example delivered
   */
  status: DeliveryStatus;
  /**
   * How many attempts were made.
   * @example 1
   */
  attempts: number;
  /**
   * When the delivery was created.
   * @example 2026-11-21T09:30:00.000Z
   */
  createdAt: string;
  /**
   * When the last attempt ended.
   * @example 2026-11-21T09:30:00.000Z
   */
  lastAttemptAt?: string;
  /**
   * When the next attempt is due; left out while the webhook is disabled.
   * @example 2026-11-21T09:30:00.000Z
   */
  nextAttemptAt?: string;
  /**
   * The status of the last response, if there was one.
   * @example 200
   */
  responseStatus?: number;
  /**
   * Why the last attempt failed.
   * @example The response was 500.
   */
  error?: string;
}

/**
 * What happened.
 */
export type EventType =
  | 'pet.created'
  | 'pet.updated'
  | 'pet.deleted'
  | 'category.created'
  | 'category.updated'
  | 'category.deleted'
  | 'order.placed'
  | 'order.updated'
  | 'order.completed'
  | 'order.cancelled'
  | 'inventory.updated';

/**
 * Something that happened in the store. `type` says what, and what `data` is.
 */
export type Event = PetEvent | CategoryEvent | OrderEvent | InventoryEvent;

/**
 * Something happened to a resource of type Pet.
 */
export interface PetEvent {
  /**
   * Unique identifier. The same event has the same id wherever it is sent.
   */
  id: string;
  /**
   * What happened.
   * @example pet.created
   */
  type: 'pet.created' | 'pet.updated' | 'pet.deleted';
  /**
   * When it happened, in UTC, to the microsecond.
   * @example 2026-11-21T09:30:00.123456Z
   */
  timestamp: string;
  /**
   * The resource right after the event; right before, if it was deleted or cancelled.
   */
  data: StoredPet;
}

/**
 * Something happened to a resource of type Category.
 */
export interface CategoryEvent {
  /**
   * Unique identifier. The same event has the same id wherever it is sent.
   */
  id: string;
  /**
   * What happened.
   * @example category.created
   */
  type: 'category.created' | 'category.updated' | 'category.deleted';
  /**
   * When it happened, in UTC, to the microsecond.
   * @example 2026-11-21T09:30:00.123456Z
   */
  timestamp: string;
  /**
   * The resource right after the event; right before, if it was deleted or cancelled.
   */
  data: Category;
}

/**
 * Something happened to a resource of type Order.
 */
export interface OrderEvent {
  /**
   * Unique identifier. The same event has the same id wherever it is sent.
   */
  id: string;
  /**
   * What happened.
   * @example order.placed
   */
  type: 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled';
  /**
   * When it happened, in UTC, to the microsecond.
   * @example 2026-11-21T09:30:00.123456Z
   */
  timestamp: string;
  /**
   * The resource right after the event; right before, if it was deleted or cancelled.
   */
  data: StoredOrder;
}

/**
 * Something happened to a resource of type InventoryItem.
 */
export interface InventoryEvent {
  /**
   * Unique identifier. The same event has the same id wherever it is sent.
   */
  id: string;
  /**
   * What happened.
   * @example inventory.updated
   */
  type: 'inventory.updated';
  /**
   * When it happened, in UTC, to the microsecond.
   * @example 2026-11-21T09:30:00.123456Z
   */
  timestamp: string;
  /**
   * The resource right after the event; right before, if it was deleted or cancelled.
   */
  data: InventoryItem;
}

/**
 * The event that testWebhook sends. Nothing has happened.
 */
export interface TestEvent {
  /**
   * Unique identifier. The same event has the same id wherever it is sent.
   */
  id: string;
  /**
   * What happened.
   * @example webhook.test
   */
  type: 'webhook.test';
  /**
   * When it happened, in UTC, to the microsecond.
   * @example 2026-11-21T09:30:00.123456Z
   */
  timestamp: string;
  /**
   * The webhook that is tested.
   */
  data: {
    /**
     * Identifier of the webhook.
     * @example 1
     */
    webhookId: number;
  };
}

/**
 * One page of pets.
 */
export type Pets = StoredPet[];

/**
 * Pet as every response has it.
 */
export type StoredPet = Pet;

/**
 * Order as every response has it.
 */
export type StoredOrder = Order;

/** The error codes of the service. A newer service may have more. */
export type ServiceErrorCode =
  | 'bad_request'
  | 'conflicting_credentials'
  | 'invalid_cursor'
  | 'malformed_json'
  | 'validation_failed'
  | 'invalid_api_key'
  | 'missing_api_key'
  | 'api_key_banned'
  | 'insufficient_scope'
  | 'category_not_found'
  | 'delivery_not_found'
  | 'order_not_found'
  | 'pet_not_found'
  | 'route_not_found'
  | 'webhook_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'category_in_use'
  | 'idempotency_in_progress'
  | 'insufficient_stock'
  | 'invalid_status_transition'
  | 'order_already_complete'
  | 'pet_has_open_orders'
  | 'pet_not_available'
  | 'too_many_webhooks'
  | 'events_lost'
  | 'operation_gone'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'unknown_category'
  | 'unknown_pet'
  | 'webhook_url_not_allowed'
  | 'daily_quota_exceeded'
  | 'rate_limit_exceeded'
  | 'headers_too_large'
  | 'internal_error'
  | 'service_unavailable';

export interface GetUsageQuery {
  /**
   * Number of days, including today.
   * @default 30
   * @example 7
   */
  days?: number;
}

export interface ListCategoriesQuery {
  /**
   * Maximum number of entries on a page.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
  /**
   * Only categories whose name starts with this text, ignoring case.
   * @example do
   */
  name?: string;
}

export interface ListPetsQuery {
  /**
   * Maximum number of entries on a page. With `id`, the default is 100, so that all of them are on it.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
  /**
   * Only pets with one of these statuses.
   * @example ["available","pending"]
   */
  status?: PetStatus[];
  /**
   * Only pets of this category.
   * @example 1
   */
  categoryId?: number;
  /**
   * Only pets whose name starts with this text, ignoring case.
   * @example re
   */
  name?: string;
  /**
   * Only pets with one of these ids.
   * @example [1,2]
   */
  id?: number[];
}

export interface ListInventoryQuery {
  /**
   * Maximum number of entries on a page.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
  /**
   * Only entries of pets with one of these statuses.
   * @example ["available"]
   */
  status?: PetStatus[];
}

export interface ListOrdersQuery {
  /**
   * Maximum number of entries on a page.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
  /**
   * Only orders for this pet.
   * @example 1
   */
  petId?: number;
  /**
   * Only fulfilled orders (true) or only open ones (false).
   * @example false
   */
  complete?: boolean;
}

export interface ListWebhooksQuery {
  /**
   * Maximum number of entries on a page.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
}

export interface ListDeliveriesQuery {
  /**
   * Maximum number of entries on a page.
   * @default 20
   * @example 20
   */
  limit?: number;
  /**
   * Where the page starts. Opaque: use the one from the `Link` header of the previous page.
   * @example YWZ0ZXI6MjA
   */
  cursor?: string;
  /**
   * Only deliveries with this status.
   * @example failed
   */
  status?: DeliveryStatus;
}

export interface Resources {
  account: {
    /**
     * Get your API key. Describes the API key that you send: its client and plan, its scopes, and when it expires. Never the key itself. Any valid key may call it, whatever its scopes.
     *
     * `GET /key`
     */
    key(options?: CallOptions): ApiPromise<Key>;
    /**
     * Get your rate limit status. Returns your plan, both windows and the bans of your key. Requests with a valid key never count; any valid key may call it, whatever its scopes, a banned one too. Without a valid key the request counts for the address, and is refused past its limit.
     *
     * `GET /rate-limit`
     */
    rateLimit(options?: CallOptions): ApiPromise<RateLimitStatus>;
    /**
     * Get your daily usage. Returns your client's counted requests for each UTC day, up to 90 days back.
     *
     * `GET /usage`
     */
    usage(query?: GetUsageQuery, options?: CallOptions): ApiPromise<Usage>;
  };
  categories: {
    /**
     * List categories. Returns a page of categories, sorted by id. Follow `Link` with `rel="next"` for the next page. With a `name` that many categories have, a page may be short or empty although more follow: `Link` goes on.
     *
     * `GET /categories`
     */
    list(query?: ListCategoriesQuery, options?: CallOptions): List<Category>;
    /**
     * Create a category. The service assigns the id. Names need not be unique. Send an `Idempotency-Key` to make the request safe to retry.
     *
     * `POST /categories`
     */
    create(body: NewCategory, options?: CallOptions): ApiPromise<Category>;
    /**
     * Get a category. Returns one category. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
     *
     * `GET /categories/{categoryId}`
     * @param categoryId Identifier of the category (Category.id).
     */
    get(categoryId: number, options?: CallOptions): ApiPromise<Category>;
    /**
     * Get a category. Returns one category. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
     *
     * `GET /categories/{categoryId}`
     * @param categoryId Identifier of the category (Category.id).
     */
    get(categoryId: number, options: ConditionalOptions): ApiPromise<Category | undefined>;
    /**
     * Replace a category. Replaces name and description. Without a `description` the old one is removed.
     *
     * `PUT /categories/{categoryId}`
     * @param categoryId Identifier of the category (Category.id).
     */
    replace(categoryId: number, body: NewCategory, options?: CallOptions): ApiPromise<Category>;
    /**
     * Delete a category. Deletes a category that no pet belongs to.
     *
     * `DELETE /categories/{categoryId}`
     * @param categoryId Identifier of the category (Category.id).
     */
    delete(categoryId: number, options?: CallOptions): ApiPromise<undefined>;
  };
  pets: {
    /**
     * List pets. Returns a page of pets, sorted by id. Follow `Link` with `rel="next"` for the next page. A pet must match all filters. With a `name` that many pets have, a page may be short or empty although more follow: `Link` goes on.
     *
     * `GET /pets`
     */
    list(query?: ListPetsQuery, options?: CallOptions): List<StoredPet>;
    /**
     * List pets. Returns a page of pets, sorted by id. Follow `Link` with `rel="next"` for the next page. A pet must match all filters. With a `name` that many pets have, a page may be short or empty although more follow: `Link` goes on.
     *
     * `GET /pets`
     */
    list(query: ListPetsQuery, options: ConditionalOptions): ApiPromise<StoredPet[] | undefined>;
    /**
     * Create a pet. The service assigns the id. The pet starts with one unit in stock, or with none if it is created as `sold`. Send an `Idempotency-Key` to make the request safe to retry.
     *
     * `POST /pets`
     */
    create(body: NewPet, options?: CallOptions): ApiPromise<StoredPet>;
    /**
     * Get a pet.
     *
     * `GET /pets/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     * @deprecated Use `store.pets.list({ id: [petId] })` instead, which returns an array with one pet or none. It may be gone from 2027-11-01.
     */
    get(petId: number, options?: CallOptions): ApiPromise<StoredPet>;
    /**
     * Get a pet.
     *
     * `GET /pets/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     * @deprecated Use `store.pets.list({ id: [petId] })` instead, which returns an array with one pet or none. It may be gone from 2027-11-01.
     */
    get(petId: number, options: ConditionalOptions): ApiPromise<StoredPet | undefined>;
    /**
     * Replace a pet. Replaces all fields. Without a `status` the pet keeps it, because stock and orders decide it. By hand, a pet with stock can be held (`pending`, `sold`) and offered again; a pet without stock cannot become `available`, nor a `sold` one `pending`.
     *
     * `PUT /pets/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    replace(petId: number, body: NewPet, options?: CallOptions): ApiPromise<StoredPet>;
    /**
     * Update a pet. Updates the fields in the body, a JSON Merge Patch (RFC 7396). Fields cannot be removed, so null is not accepted. By hand, a pet with stock can be held (`pending`, `sold`) and offered again; a pet without stock cannot become `available`, nor a `sold` one `pending`.
     *
     * `PATCH /pets/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    update(petId: number, body: PetPatch, options?: CallOptions): ApiPromise<StoredPet>;
    /**
     * Delete a pet. Deletes a pet that has no open orders.
     *
     * `DELETE /pets/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    delete(petId: number, options?: CallOptions): ApiPromise<undefined>;
  };
  inventory: {
    /**
     * List stock counts. Returns a page of stock counts, sorted by petId. Follow `Link` with `rel="next"` for the next page.
     *
     * `GET /store/inventory`
     */
    list(query?: ListInventoryQuery, options?: CallOptions): List<InventoryItem>;
    /**
     * Get the stock count of a pet. Returns the current stock count and status of one pet.
     *
     * `GET /store/inventory/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    get(petId: number, options?: CallOptions): ApiPromise<InventoryItem>;
    /**
     * Get the stock count of a pet. Returns the current stock count and status of one pet.
     *
     * `GET /store/inventory/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    get(petId: number, options: ConditionalOptions): ApiPromise<InventoryItem | undefined>;
    /**
     * Set the stock count of a pet. Sets the stock count. If it was 0 and is more, the pet becomes `available`. At 0 it becomes `pending` while an order is open, else `sold`. A pet that was held by hand while it had stock stays held. Send `If-Match` to avoid overwriting changes that you have not seen, or adjust the count instead.
     *
     * `PUT /store/inventory/{petId}`
     * @param petId Identifier of the pet (Pet.id).
     */
    set(petId: number, body: InventoryUpdate, options?: CallOptions): ApiPromise<InventoryItem>;
    /**
     * Adjust the stock count of a pet. Adds units to the stock or removes them in one step, without reading the count first. The status follows as if the count were set.
     *
     * `POST /store/inventory/{petId}/adjustments`
     * @param petId Identifier of the pet (Pet.id).
     */
    adjust(petId: number, body: InventoryAdjustment, options?: CallOptions): ApiPromise<InventoryItem>;
  };
  orders: {
    /**
     * List orders. Returns a page of orders, sorted by id. Follow `Link` with `rel="next"` for the next page. Cancelled orders are not included.
     *
     * `GET /store/orders`
     */
    list(query?: ListOrdersQuery, options?: CallOptions): List<StoredOrder>;
    /**
     * Place an order. The pet must be `available` and have enough units in stock. The order takes them immediately; when the last one is taken, the pet becomes `pending`, and `sold` once no order is open any more. `complete: true` places and fulfils the order in one step. Send an `Idempotency-Key` to make the request safe to retry.
     *
     * `POST /store/orders`
     */
    place(body: NewOrder, options?: CallOptions): ApiPromise<StoredOrder>;
    /**
     * Get an order. Returns one order. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
     *
     * `GET /store/orders/{orderId}`
     * @param orderId Identifier of the order (Order.id).
     */
    get(orderId: number, options?: CallOptions): ApiPromise<StoredOrder>;
    /**
     * Get an order. Returns one order. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
     *
     * `GET /store/orders/{orderId}`
     * @param orderId Identifier of the order (Order.id).
     */
    get(orderId: number, options: ConditionalOptions): ApiPromise<StoredOrder | undefined>;
    /**
     * Update or complete an order. A JSON Merge Patch (RFC 7396). `shipDate: null` removes the date. `complete: true` fulfils the order and is final. If nothing is left in stock and no order is open, the pet becomes `sold`.
     *
     * `PATCH /store/orders/{orderId}`
     * @param orderId Identifier of the order (Order.id).
     */
    update(orderId: number, body: OrderPatch, options?: CallOptions): ApiPromise<StoredOrder>;
    /**
     * Cancel an order. Returns the units of an open order to the stock. If nothing was left, the pet becomes `available` again; one that is held by hand stays held. A complete order cannot be cancelled.
     *
     * `DELETE /store/orders/{orderId}`
     * @param orderId Identifier of the order (Order.id).
     */
    cancel(orderId: number, options?: CallOptions): ApiPromise<undefined>;
  };
  webhooks: {
    /**
     * List webhooks. Returns your client's webhooks, sorted by id.
     *
     * `GET /webhooks`
     */
    list(query?: ListWebhooksQuery, options?: CallOptions): List<Webhook>;
    /**
     * Create a webhook. Events are sent to `url` from now on. Only this response contains the signing secret; keep it. Your client may have 10 webhooks.
     *
     * `POST /webhooks`
     */
    create(body: NewWebhook, options?: CallOptions): ApiPromise<WebhookWithSecret>;
    /**
     * Get a webhook. Returns one webhook, without its secret.
     *
     * `GET /webhooks/{webhookId}`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    get(webhookId: number, options?: CallOptions): ApiPromise<Webhook>;
    /**
     * Get a webhook. Returns one webhook, without its secret.
     *
     * `GET /webhooks/{webhookId}`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    get(webhookId: number, options: ConditionalOptions): ApiPromise<Webhook | undefined>;
    /**
     * Update a webhook. A JSON Merge Patch (RFC 7396). `types: null` means all types. The secret does not change.
     *
     * `PATCH /webhooks/{webhookId}`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    update(webhookId: number, body: WebhookPatch, options?: CallOptions): ApiPromise<Webhook>;
    /**
     * Delete a webhook. Nothing more is sent to it, and its deliveries are deleted.
     *
     * `DELETE /webhooks/{webhookId}`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    delete(webhookId: number, options?: CallOptions): ApiPromise<undefined>;
    /**
     * Rotate the secret. Creates a new secret; only this response contains it. For 24 hours the old secret signs as well, so that your receiver can switch.
     *
     * `POST /webhooks/{webhookId}/secret`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    rotateSecret(webhookId: number, options?: CallOptions): ApiPromise<WebhookWithSecret>;
    /**
     * Send a test event. Sends an event of type `webhook.test`, whatever types the webhook subscribes to. If the webhook is disabled, the event is sent once it is enabled.
     *
     * `POST /webhooks/{webhookId}/test`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    test(webhookId: number, options?: CallOptions): ApiPromise<Delivery>;
    /**
     * List deliveries. Returns a page of the deliveries of a webhook from the last 30 days, newest first.
     *
     * `GET /webhooks/{webhookId}/deliveries`
     * @param webhookId Identifier of the webhook (Webhook.id).
     */
    deliveries(webhookId: number, query?: ListDeliveriesQuery, options?: CallOptions): List<Delivery>;
    /**
     * Retry a delivery. Sends the event again now, even if it was delivered. If it fails, the retries start over.
     *
     * `POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry`
     * @param webhookId Identifier of the webhook (Webhook.id).
     * @param deliveryId Identifier of the delivery (Delivery.id).
     */
    retry(webhookId: number, deliveryId: number, options?: CallOptions): ApiPromise<Delivery>;
  };
}

/** Where the operations are, and what they take after the values of the path. */
export const OPERATIONS = {
  account: {
    key: { method: 'GET', path: '/key', isPaged: false },
    rateLimit: { method: 'GET', path: '/rate-limit', isPaged: false },
    usage: { method: 'GET', path: '/usage', takes: 'query', isPaged: false },
  },
  categories: {
    list: { method: 'GET', path: '/categories', takes: 'query', isPaged: true },
    create: { method: 'POST', path: '/categories', takes: 'body', isPaged: false },
    get: { method: 'GET', path: '/categories/{categoryId}', isPaged: false },
    replace: { method: 'PUT', path: '/categories/{categoryId}', takes: 'body', isPaged: false },
    delete: { method: 'DELETE', path: '/categories/{categoryId}', isPaged: false },
  },
  pets: {
    list: { method: 'GET', path: '/pets', takes: 'query', isPaged: true },
    create: { method: 'POST', path: '/pets', takes: 'body', isPaged: false },
    get: { method: 'GET', path: '/pets/{petId}', isPaged: false },
    replace: { method: 'PUT', path: '/pets/{petId}', takes: 'body', isPaged: false },
    update: { method: 'PATCH', path: '/pets/{petId}', takes: 'body', isPaged: false },
    delete: { method: 'DELETE', path: '/pets/{petId}', isPaged: false },
  },
  inventory: {
    list: { method: 'GET', path: '/store/inventory', takes: 'query', isPaged: true },
    get: { method: 'GET', path: '/store/inventory/{petId}', isPaged: false },
    set: { method: 'PUT', path: '/store/inventory/{petId}', takes: 'body', isPaged: false },
    adjust: { method: 'POST', path: '/store/inventory/{petId}/adjustments', takes: 'body', isPaged: false },
  },
  orders: {
    list: { method: 'GET', path: '/store/orders', takes: 'query', isPaged: true },
    place: { method: 'POST', path: '/store/orders', takes: 'body', isPaged: false },
    get: { method: 'GET', path: '/store/orders/{orderId}', isPaged: false },
    update: { method: 'PATCH', path: '/store/orders/{orderId}', takes: 'body', isPaged: false },
    cancel: { method: 'DELETE', path: '/store/orders/{orderId}', isPaged: false },
  },
  webhooks: {
    list: { method: 'GET', path: '/webhooks', takes: 'query', isPaged: true },
    create: { method: 'POST', path: '/webhooks', takes: 'body', isPaged: false },
    get: { method: 'GET', path: '/webhooks/{webhookId}', isPaged: false },
    update: { method: 'PATCH', path: '/webhooks/{webhookId}', takes: 'body', isPaged: false },
    delete: { method: 'DELETE', path: '/webhooks/{webhookId}', isPaged: false },
    rotateSecret: { method: 'POST', path: '/webhooks/{webhookId}/secret', isPaged: false },
    test: { method: 'POST', path: '/webhooks/{webhookId}/test', isPaged: false },
    deliveries: { method: 'GET', path: '/webhooks/{webhookId}/deliveries', takes: 'query', isPaged: true },
    retry: { method: 'POST', path: '/webhooks/{webhookId}/deliveries/{deliveryId}/retry', isPaged: false },
  },
} as const;
