// Generated from openapi.yaml by `npm run generate`.
/** @description The API key that sent the request, and the client it belongs to. */
export interface Key {
    /**
     * Format: int64
     * @description Identifier of the key. It stays the same for the life of the key.
     * @example 1
     */
    id: number;
    /**
     * @description What the key is for. Absent for a key without a name.
     * @example price list
     */
    name?: string;
    /**
     * @description The last four characters of the key.
     * @example x7Qa
     */
    endsWith: string;
    /**
     * @description Name of the client. All its keys share its limits.
     * @example acme
     */
    client: string;
    /**
     * @description The plan of the client.
     * @example free
     */
    plan: string & Plan;
    /**
     * @description What the key may do: `read` (GET and HEAD), `write` (all other methods), or both.
     * @example [
     *       "read",
     *       "write"
     *     ]
     */
    scopes: KeyScope[];
    /**
     * Format: date-time
     * @description When the key was issued.
     * @example 2026-11-01T08:00:00.000Z
     */
    createdAt: string;
    /**
     * Format: date-time
     * @description When the key stops working. Absent for a key that does not expire.
     * @example 2027-11-01T08:00:00.000Z
     */
    expiresAt?: string;
    /**
     * Format: date-time
     * @description When the overlap of a rotation ends. Present only for a key that has been replaced: switch to the new key before then.
     */
    overlapEndsAt?: string;
}
/**
 * @description The plan of the client.
 * @enum {string}
 */
export type Plan = "free" | "pro" | "business" | "enterprise";
/** @description The state of one window. */
export interface RateLimitWindow {
    /**
     * Format: int32
     * @description Requests that the window allows.
     * @example 60
     */
    limit: number;
    /**
     * Format: int32
     * @description Requests left in the window.
     * @example 59
     */
    remaining: number;
    /**
     * Format: date-time
     * @description When the window ends.
     * @example 2026-11-21T09:31:00.000Z
     */
    resetAt: string;
}
/** @description The ban state of a key. */
export interface RateLimitBan {
    /**
     * @description Whether the key is banned now.
     * @example false
     */
    banned: boolean;
    /**
     * Format: date-time
     * @description When the next request will be accepted: at the end of the ban, or of an exhausted window if that is later. Present only during a ban.
     * @example 2026-11-21T09:33:00.000Z
     */
    until?: string;
    /**
     * Format: int32
     * @description How many more refused requests lead to a ban. Counting starts with a 429 and starts over after 60 seconds, or earlier if the window ends. Refusals in the first two seconds do not count.
     * @example 31
     */
    refusalsBeforeBan: number;
    /**
     * Format: int32
     * @description How long the next ban would last, in seconds.
     * @example 120
     */
    nextBanSeconds: number;
}
/** @description The rate limit status of a client and its key. */
export interface RateLimitStatus {
    /**
     * @description The plan of the client.
     * @example free
     */
    plan: string & Plan;
    /** @description The window of 60 seconds. */
    minute: RateLimitWindow;
    /** @description The window of the UTC day. */
    day: RateLimitWindow;
    /** @description Bans of the key. */
    ban: RateLimitBan;
}
/** @description The requests of one day. */
export interface UsageDay {
    /**
     * Format: date
     * @description The UTC day.
     * @example 2026-11-21
     */
    date: string;
    /**
     * Format: int32
     * @description Requests counted on that day.
     * @example 42
     */
    requests: number;
}
/** @description The requests of a client, by day. */
export interface Usage {
    /** @description One entry per day, oldest first, ending with today. */
    days: UsageDay[];
}
/** @description A category that pets belong to. `description` is left out if it is not set. */
export interface Category {
    /**
     * Format: int64
     * @description Unique identifier assigned on creation.
     * @example 1
     */
    id: number;
    /**
     * @description Category name (for instance a kind of pet). Converted to Unicode NFC.
     * @example Dogs
     */
    name: string;
    /**
     * @description Short description of the category.
     * @example Loyal, loud and always hungry.
     */
    description?: string;
}
/** @description The body to create or replace a category. */
export interface NewCategory {
    /**
     * @description Category name (for instance a kind of pet). Converted to Unicode NFC.
     * @example Dogs
     */
    name: string;
    /**
     * @description Short description of the category.
     * @example Loyal, loud and always hungry.
     */
    description?: string;
}
/**
 * @description Status of the pet.
 * @enum {string}
 */
export type PetStatus = "available" | "pending" | "sold";
/** @description The body to create or replace a pet. */
export interface NewPet {
    /**
     * @description The pet's name. Converted to Unicode NFC.
     * @example Rex
     */
    name: string;
    /**
     * Format: int64
     * @description Identifier of the category the pet belongs to.
     * @example 1
     */
    categoryId: number;
    /**
     * @description Status of the pet. Left out, a new pet is `available`, and a replaced one keeps its status.
     * @example available
     */
    status?: string & PetStatus;
}
/** @description A JSON Merge Patch (RFC 7396). Fields that are left out do not change. */
export interface PetPatch {
    /**
     * @description The pet's name. Converted to Unicode NFC.
     * @example Rex
     */
    name?: string;
    /**
     * Format: int64
     * @description Identifier of the category the pet belongs to.
     * @example 1
     */
    categoryId?: number;
    /**
     * @description Status of the pet.
     * @example available
     */
    status?: string & PetStatus;
}
/** @description The stock of one pet. */
export interface InventoryItem {
    /**
     * Format: int64
     * @description Identifier of the pet.
     * @example 1
     */
    petId: number;
    /**
     * Format: int32
     * @description Current stock count.
     * @example 1
     */
    quantity: number;
    /**
     * @description Status of the pet.
     * @example available
     */
    status: string & PetStatus;
}
/** @description The body to set a stock count. */
export interface InventoryUpdate {
    /**
     * Format: int32
     * @description The new stock count.
     * @example 3
     */
    quantity: number;
}
/** @description The body to adjust a stock count. */
export interface InventoryAdjustment {
    /**
     * Format: int32
     * @description Units to add to the stock, or to remove if negative. Not 0.
     * @example -2
     */
    delta: number;
}
/** @description The body to place an order. */
export interface NewOrder {
    /**
     * Format: int64
     * @description Identifier of the pet in the order.
     * @example 1
     */
    petId: number;
    /**
     * Format: int32
     * @description Number of units ordered; 1 if it is left out.
     * @example 1
     */
    quantity?: number;
    /**
     * Format: date-time
     * @description Expected or actual ship date, in the years 0001 to 9999.
     * @example 2026-11-24T09:30:00.000Z
     */
    shipDate?: string;
    /**
     * @description Whether the order has been fulfilled; false if it is left out.
     * @example false
     */
    complete?: boolean;
}
/** @description A JSON Merge Patch (RFC 7396). Fields that are left out do not change. */
export interface OrderPatch {
    /**
     * Format: date-time
     * @description Expected or actual ship date, in the years 0001 to 9999. Null removes it.
     * @example 2026-11-24T09:30:00.000Z
     */
    shipDate?: string | null;
    /**
     * @description Whether the order has been fulfilled. True is final.
     * @example true
     */
    complete?: boolean;
}
/** @description A URL that receives the events of the store. */
export interface Webhook {
    /**
     * Format: int64
     * @description Unique webhook identifier.
     * @example 1
     */
    id: number;
    /**
     * @description An https URL to a public address, without user and password, on port 80, 443 or above 1023.
     * @example https://shop.example/events
     */
    url: string;
    /**
     * @description Types of events that are sent. Absent if all types are sent.
     * @example [
     *       "order.placed",
     *       "order.completed"
     *     ]
     */
    types?: EventName[];
    /**
     * @description Your own note about the webhook.
     * @example Packing list printer
     */
    description?: string;
    /**
     * @description Whether events are sent.
     * @example true
     */
    enabled: boolean;
    /**
     * @description Why the service or its operator disabled the webhook. Absent otherwise.
     * @example All deliveries failed for five days.
     */
    disabledReason?: string;
    /**
     * Format: date-time
     * @description When the webhook was created.
     * @example 2026-11-21T09:30:00.000Z
     */
    createdAt: string;
}
/** @description A webhook with its signing secret, which is shown once. */
export interface WebhookWithSecret {
    /**
     * Format: int64
     * @description Unique webhook identifier.
     * @example 1
     */
    id: number;
    /**
     * @description An https URL to a public address, without user and password, on port 80, 443 or above 1023.
     * @example https://shop.example/events
     */
    url: string;
    /**
     * @description Types of events that are sent. Absent if all types are sent.
     * @example [
     *       "order.placed",
     *       "order.completed"
     *     ]
     */
    types?: EventName[];
    /**
     * @description Your own note about the webhook.
     * @example Packing list printer
     */
    description?: string;
    /**
     * @description Whether events are sent.
     * @example true
     */
    enabled: boolean;
    /**
     * @description Why the service or its operator disabled the webhook. Absent otherwise.
     * @example All deliveries failed for five days.
     */
    disabledReason?: string;
    /**
     * Format: date-time
     * @description When the webhook was created.
     * @example 2026-11-21T09:30:00.000Z
     */
    createdAt: string;
    /**
     * @description The secret that signs deliveries: `whsec_` and 24 to 64 random bytes in base64.
     * @example whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=
     */
    secret: string;
}
/** @description The body to create a webhook. */
export interface NewWebhook {
    /**
     * @description An https URL to a public address, without user and password, on port 80, 443 or above 1023.
     * @example https://shop.example/events
     */
    url: string;
    /**
     * @description Types of events to send. Absent, null or empty means all.
     * @example [
     *       "order.placed",
     *       "order.completed"
     *     ]
     */
    types?: EventName[] | null;
    /**
     * @description Your own note about the webhook.
     * @example Packing list printer
     */
    description?: string;
    /**
     * @description Whether events are sent. Default: true.
     * @example true
     */
    enabled?: boolean;
}
/** @description A JSON Merge Patch (RFC 7396) of a webhook: only the fields to change. */
export interface WebhookPatch {
    /**
     * @description An https URL to a public address, without user and password, on port 80, 443 or above 1023.
     * @example https://shop.example/events
     */
    url?: string;
    /**
     * @description Types of events to send. Null or empty means all.
     * @example [
     *       "order.placed",
     *       "order.completed"
     *     ]
     */
    types?: EventName[] | null;
    /**
     * @description Your own note about the webhook. Null removes it.
     * @example Packing list printer
     */
    description?: string | null;
    /**
     * @description Whether events are sent. Events that happen while `enabled` is false are not sent later. Pending deliveries continue when `enabled` is true again.
     * @example true
     */
    enabled?: boolean;
}
/**
 * @description Whether the delivery waits for an attempt (`pending`), has arrived (`delivered`) or was given up (`failed`).
 * @enum {string}
 */
export type DeliveryStatus = "pending" | "delivered" | "failed";
/** @description One event on its way to one webhook. Fields that do not apply are left out. */
export interface Delivery {
    /**
     * Format: int64
     * @description Unique delivery identifier.
     * @example 1
     */
    id: number;
    /**
     * @description The event’s id, which is the `webhook-id` of the request.
     * @example evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11
     */
    eventId: string;
    /**
     * @description The event’s type.
     * @example order.placed
     */
    type: string;
    /**
     * @description Whether the delivery waits for an attempt (`pending`), has arrived (`delivered`) or was given up (`failed`).
     * @example delivered
     */
    status: string & DeliveryStatus;
    /**
     * Format: int32
     * @description How many attempts were made.
     * @example 1
     */
    attempts: number;
    /**
     * Format: date-time
     * @description When the delivery was created.
     * @example 2026-11-21T09:30:00.000Z
     */
    createdAt: string;
    /**
     * Format: date-time
     * @description When the last attempt ended.
     * @example 2026-11-21T09:30:00.000Z
     */
    lastAttemptAt?: string;
    /**
     * Format: date-time
     * @description When the next attempt is due. It may begin later, before the first success of the webhook or after a 429, 502, 503 or 504. Absent while the webhook is disabled.
     */
    nextAttemptAt?: string;
    /**
     * Format: int32
     * @description The HTTP status of the last response, if there was one.
     * @example 204
     */
    responseStatus?: number;
    /** @description Why the last attempt failed. */
    error?: string;
}
/** @description The body of every error response. Rely on the code; the message is for people. */
export interface ErrorBody {
    /**
     * @description Machine-readable error code. New codes may be added.
     * @example pet_not_found
     * @enum {string}
     */
    code: "bad_request" | "conflicting_credentials" | "invalid_cursor" | "malformed_json" | "validation_failed" | "invalid_api_key" | "missing_api_key" | "api_key_banned" | "insufficient_scope" | "category_not_found" | "delivery_not_found" | "order_not_found" | "pet_not_found" | "route_not_found" | "webhook_not_found" | "method_not_allowed" | "request_timeout" | "category_in_use" | "idempotency_in_progress" | "insufficient_stock" | "invalid_status_transition" | "order_already_complete" | "pet_has_open_orders" | "pet_not_available" | "stock_limit_exceeded" | "too_many_secrets" | "too_many_webhooks" | "webhook_disabled" | "events_lost" | "operation_gone" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "unknown_category" | "unknown_pet" | "webhook_url_not_allowed" | "daily_quota_exceeded" | "rate_limit_exceeded" | "headers_too_large" | "internal_error" | "service_unavailable";
    /**
     * @description Human-readable description, on one line.
     * @example There is no pet 7.
     */
    message: string;
    /**
     * Format: int32
     * @description The HTTP status code.
     * @example 404
     */
    status: number;
}
/**
 * @description What a key may do: `read` (GET and HEAD) or `write` (all other methods).
 * @enum {string}
 */
export type KeyScope = "read" | "write";
/** @description A pet of the store. */
export interface Pet {
    /**
     * Format: int64
     * @description Unique identifier assigned on creation.
     * @example 1
     */
    id: number;
    /**
     * @description The pet's name. Converted to Unicode NFC.
     * @example Rex
     */
    name: string;
    /**
     * Format: int64
     * @description Identifier of the category the pet belongs to.
     * @example 1
     */
    categoryId: number;
    /**
     * @description Status of the pet.
     * @example available
     */
    status: string & PetStatus;
}
/** @description One page of pets. */
export type Pets = Pet[];
/** @description An order for a pet. `shipDate` is left out if it is not set. */
export interface Order {
    /**
     * Format: int64
     * @description Unique order identifier.
     * @example 1
     */
    id: number;
    /**
     * Format: int64
     * @description Identifier of the pet in the order.
     * @example 1
     */
    petId: number;
    /**
     * Format: int32
     * @description Number of units ordered.
     * @example 1
     */
    quantity: number;
    /**
     * Format: date-time
     * @description Expected or actual ship date, in the years 0001 to 9999.
     * @example 2026-11-24T09:30:00.000Z
     */
    shipDate?: string;
    /**
     * @description Whether the order has been fulfilled.
     * @example false
     */
    complete: boolean;
}
/**
 * @description What happened. New types may be added at any time, so filter by the types that you know.
 * @enum {string}
 */
export type EventName = "pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated";
/** @description A change of the store. `type` names the kind of change, and the schema of `data` follows from `type`. */
export type StoreEvent = PetEvent | CategoryEvent | OrderEvent | InventoryEvent;
/** @description An event whose type begins with `pet.`. */
export interface PetEvent {
    /** @description Unique, the same wherever the event is sent. */
    id: string;
    /**
     * @description What happened. (enum property replaced by openapi-typescript)
     * @enum {string}
     */
    type: "pet.created" | "pet.updated" | "pet.deleted";
    /**
     * Format: date-time
     * @description When the change happened, in UTC.
     * @example 2026-11-21T09:30:00.123456Z
     */
    timestamp: string;
    /** @description The resource after the event, or before its deletion or cancellation. */
    data: Pet;
}
/** @description An event whose type begins with `category.`. */
export interface CategoryEvent {
    /** @description Unique, the same wherever the event is sent. */
    id: string;
    /**
     * @description What happened. (enum property replaced by openapi-typescript)
     * @enum {string}
     */
    type: "category.created" | "category.updated" | "category.deleted";
    /**
     * Format: date-time
     * @description When the change happened, in UTC.
     * @example 2026-11-21T09:30:00.123456Z
     */
    timestamp: string;
    /** @description The resource after the event, or before its deletion or cancellation. */
    data: Category;
}
/** @description An event whose type begins with `order.`. */
export interface OrderEvent {
    /** @description Unique, the same wherever the event is sent. */
    id: string;
    /**
     * @description What happened. (enum property replaced by openapi-typescript)
     * @enum {string}
     */
    type: "order.placed" | "order.updated" | "order.completed" | "order.cancelled";
    /**
     * Format: date-time
     * @description When the change happened, in UTC.
     * @example 2026-11-21T09:30:00.123456Z
     */
    timestamp: string;
    /** @description The resource after the event, or before its deletion or cancellation. */
    data: Order;
}
/** @description An event whose type begins with `inventory.`. */
export interface InventoryEvent {
    /** @description Unique, the same wherever the event is sent. */
    id: string;
    /**
     * @description What happened. (enum property replaced by openapi-typescript)
     * @enum {string}
     */
    type: "inventory.updated";
    /**
     * Format: date-time
     * @description When the change happened, in UTC.
     * @example 2026-11-21T09:30:00.123456Z
     */
    timestamp: string;
    /** @description The resource after the event, or before its deletion or cancellation. */
    data: InventoryItem;
}
/** @description The event that testWebhook sends. Nothing has happened in the store. */
export interface TestEvent {
    /** @description Unique, the same wherever the event is sent. */
    id: string;
    /**
     * @description What happened. (enum property replaced by openapi-typescript)
     * @enum {string}
     */
    type: "webhook.test";
    /**
     * Format: date-time
     * @description When the change happened, in UTC.
     * @example 2026-11-21T09:30:00.123456Z
     */
    timestamp: string;
    data: TestEventData;
}
/** @description The webhook that is tested. */
export interface TestEventData {
    /**
     * Format: int64
     * @description Identifier of the webhook.
     * @example 1
     */
    webhookId: number;
}
/** @description An event as a webhook receives it. The schema of `data` follows from `type`. */
export type WebhookEvent = PetEvent | CategoryEvent | OrderEvent | InventoryEvent | TestEvent;
