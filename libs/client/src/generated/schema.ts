// Generated from openapi.yaml by `npm run generate`.
export interface paths {
    "/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your API key
         * @description Describes the API key that you send: its client and plan, its scopes, and when it expires. Never the key itself. Any valid key may call it, whatever its scopes.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your rate limit status
         * @description Returns your plan, both windows and the bans of your key. Requests with a valid key never count; any valid key may call it, whatever its scopes, a banned one too. Without a valid key the request counts for the address, and is refused past its limit.
         */
        get: operations["getRateLimit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your daily usage
         * @description Returns your client's counted requests for each UTC day, up to 90 days back.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description Returns a page of categories, sorted by id, or with a `name` by lower-case name and id. Follow `Link` with `rel="next"` for the next page. A page ends early before it grows past 256 KiB.
         */
        get: operations["listCategories"];
        put?: never;
        /**
         * Create a category
         * @description The service assigns the id. Names need not be unique. Send an `Idempotency-Key` to make the request safe to retry.
         */
        post: operations["createCategory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/categories/{categoryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a category
         * @description Returns one category. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
         */
        get: operations["getCategory"];
        /**
         * Replace a category
         * @description Replaces name and description. Without a `description` the old one is removed.
         */
        put: operations["replaceCategory"];
        post?: never;
        /**
         * Delete a category
         * @description Deletes a category that no pet belongs to.
         */
        delete: operations["deleteCategory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pets
         * @description Returns a page of pets, sorted by id, or with a `name` by lower-case name and id. Follow `Link` with `rel="next"` for the next page. A pet must match all filters. With a `name` and a rare `status` or `categoryId`, a page may be short or empty although more follow: `Link` goes on.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Create a pet
         * @description The service assigns the id. The pet starts with one unit in stock, or with none if it is created as `sold`. Send an `Idempotency-Key` to make the request safe to retry.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a pet
         * @deprecated
         * @description Deprecated. Use `GET /pets?id={petId}` instead, which returns an array with one pet or none.
         */
        get: operations["getPet"];
        /**
         * Replace a pet
         * @description Replaces all fields. Without a `status` the pet keeps it, because stock and orders decide it. By hand, a pet with stock can be held (`pending`, `sold`) and offered again; a pet without stock cannot become `available`, nor a `sold` one `pending`.
         */
        put: operations["replacePet"];
        post?: never;
        /**
         * Delete a pet
         * @description Deletes a pet that has no open orders.
         */
        delete: operations["deletePet"];
        options?: never;
        head?: never;
        /**
         * Update a pet
         * @description Updates the fields in the body, a JSON Merge Patch (RFC 7396). Fields cannot be removed, so null is not accepted. By hand, a pet with stock can be held (`pending`, `sold`) and offered again; a pet without stock cannot become `available`, nor a `sold` one `pending`.
         */
        patch: operations["updatePet"];
        trace?: never;
    };
    "/store/inventory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List stock counts
         * @description Returns a page of stock counts, sorted by petId. Follow `Link` with `rel="next"` for the next page.
         */
        get: operations["listInventory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/inventory/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the stock count of a pet
         * @description Returns the current stock count and status of one pet.
         */
        get: operations["getInventory"];
        /**
         * Set the stock count of a pet
         * @description Sets the stock count. If it was 0 and is more, the pet becomes `available`. At 0 it becomes `pending` while an order is open, else `sold`. A pet that is held by hand stays held until its stock is 0. Send `If-Match` to avoid overwriting changes that you have not seen, or adjust the count instead.
         */
        put: operations["setInventory"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/inventory/{petId}/adjustments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Adjust the stock count of a pet
         * @description Adds units to the stock or removes them in one step, without reading the count first. The status follows as if the count were set.
         */
        post: operations["adjustInventory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Returns a page of orders, sorted by id. Follow `Link` with `rel="next"` for the next page. Cancelled orders are not included.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Place an order
         * @description The pet must be `available` and have enough units in stock. The order takes them immediately; when the last one is taken, the pet becomes `pending`, and `sold` once no order is open any more. `complete: true` places and fulfils the order in one step. Send an `Idempotency-Key` to make the request safe to retry.
         */
        post: operations["placeOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order
         * @description Returns one order. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        /**
         * Cancel an order
         * @description Returns the units of an open order to the stock. If nothing was left, the pet becomes `available` again; one with units left that is held by hand stays held. A complete order cannot be cancelled.
         */
        delete: operations["cancelOrder"];
        options?: never;
        head?: never;
        /**
         * Update or complete an order
         * @description A JSON Merge Patch (RFC 7396). `shipDate: null` removes the date. `complete: true` fulfils the order and is final. If nothing is left in stock and no order is open, the pet becomes `sold`.
         */
        patch: operations["updateOrder"];
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Returns a page of events, oldest first, in one order for everybody; those of a pet, an order or a category are in the order in which they happened. Follow `Link` with `rel="next"`, which every page has, and you read every event once. `wait` keeps an empty response open until an event comes; it counts as one request. `cursor=now` starts with the next event instead of the oldest one; without `wait` its page is empty, and the link says where the feed stands. With a filter, a page may be short or empty although more events follow; at the end of the feed, the link stays the same. Events are kept for 30 days.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Returns your client's webhooks, sorted by id.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Events are sent to `url` from now on. Only this response contains the signing secret; keep it. Your client may have 10 webhooks.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Returns one webhook, without its secret.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Nothing more is sent to it, and its deliveries are deleted.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update a webhook
         * @description A JSON Merge Patch (RFC 7396). `types: null` means all types. The secret does not change.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{webhookId}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret
         * @description Creates a new secret; only this response contains it. For 24 hours the old secret signs as well, so that your receiver can switch.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of type `webhook.test`, whatever types the webhook subscribes to. If the webhook is disabled, the event is sent once it is enabled.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Returns a page of the deliveries of a webhook from the last 30 days, newest first.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a delivery
         * @description Sends the event again now, even if it was delivered. If it fails, the retries start over.
         */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The API key that sent the request, and the client it belongs to. */
        Key: {
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
            plan: string & components["schemas"]["Plan"];
            /**
             * @description What the key may do: `read` (GET and HEAD), `write` (all other methods), or both.
             * @example [
             *       "read",
             *       "write"
             *     ]
             */
            scopes: ("read" | "write")[];
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
        };
        /**
         * @description The plan of the client.
         * @enum {string}
         */
        Plan: "free" | "pro" | "business" | "enterprise";
        /** @description The state of one window. */
        RateLimitWindow: {
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
        };
        /** @description The ban state of a key. */
        RateLimitBan: {
            /**
             * @description Whether the key is banned now.
             * @example false
             */
            banned: boolean;
            /**
             * Format: date-time
             * @description When the ban ends. Present only during a ban.
             * @example 2026-11-21T09:33:00.000Z
             */
            until?: string;
            /**
             * Format: int32
             * @description Refused requests left before the next ban. They are counted in series that begin with a 429 and end after 60 seconds or with the window, without those of the first two seconds.
             * @example 31
             */
            refusalsBeforeBan: number;
            /**
             * Format: int32
             * @description How long the next ban would last, in seconds.
             * @example 120
             */
            nextBanSeconds: number;
        };
        /** @description The rate limit status of a client and its key. */
        RateLimitStatus: {
            /**
             * @description The plan of the client.
             * @example free
             */
            plan: string & components["schemas"]["Plan"];
            /** @description The window of 60 seconds. */
            minute: components["schemas"]["RateLimitWindow"];
            /** @description The window of the UTC day. */
            day: components["schemas"]["RateLimitWindow"];
            /** @description Bans of the key. */
            ban: components["schemas"]["RateLimitBan"];
        };
        /** @description The requests of one day. */
        UsageDay: {
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
        };
        /** @description The requests of a client, by day. */
        Usage: {
            /** @description One entry per day, oldest first, ending with today. */
            days: components["schemas"]["UsageDay"][];
        };
        /** @description A category that pets belong to. `description` is left out if it is not set. */
        Category: {
            /**
             * @description Category name (for instance a kind of pet).
             * @example Dogs
             */
            name: string;
            /**
             * @description Short description of the category.
             * @example Loyal, loud and always hungry.
             */
            description?: string;
            /**
             * Format: int64
             * @description Unique identifier assigned on creation.
             * @example 1
             */
            id: number;
        };
        /** @description The body to create or replace a category. */
        NewCategory: {
            /**
             * @description Category name (for instance a kind of pet).
             * @example Dogs
             */
            name: string;
            /**
             * @description Short description of the category.
             * @example Loyal, loud and always hungry.
             */
            description?: string;
        };
        /**
         * @description Status of the pet.
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /** @description A pet of the store. */
        Pet: {
            /**
             * @description The pet's name.
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
            status?: string & components["schemas"]["PetStatus"];
            /**
             * Format: int64
             * @description Unique identifier assigned on creation.
             * @example 1
             */
            id: number;
        };
        /** @description The body to create or replace a pet. */
        NewPet: {
            /**
             * @description The pet's name.
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
            status?: string & components["schemas"]["PetStatus"];
        };
        /** @description A JSON Merge Patch (RFC 7396). Fields that are left out do not change. */
        PetPatch: {
            /**
             * @description The pet's name.
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
            status?: string & components["schemas"]["PetStatus"];
        };
        /** @description The stock of one pet. */
        InventoryItem: {
            /**
             * Format: int64
             * @description Identifier of the pet.
             * @example 1
             */
            petId: number;
            /**
             * Format: int32
             * @description Current stock count.
             * @example 3
             */
            quantity: number;
            /**
             * @description Status of the pet.
             * @example available
             */
            status: string & components["schemas"]["PetStatus"];
        };
        /** @description The body to set a stock count. */
        InventoryUpdate: {
            /**
             * Format: int32
             * @description The new stock count.
             * @example 3
             */
            quantity: number;
        };
        /** @description The body to adjust a stock count. */
        InventoryAdjustment: {
            /**
             * Format: int32
             * @description Units to add to the stock, or to remove if negative. Not 0.
             * @example -2
             */
            delta: number;
        };
        /** @description An order for a pet. `shipDate` is left out if it is not set. */
        Order: {
            /**
             * Format: int64
             * @description Unique order identifier.
             * @example 1
             */
            id?: number;
            /**
             * Format: int64
             * @description Identifier of the pet in the order.
             * @example 1
             */
            petId?: number;
            /**
             * Format: int32
             * @description Number of units ordered.
             * @example 1
             */
            quantity?: number;
            /**
             * Format: date-time
             * @description Expected or actual ship date.
             * @example 2026-11-24T09:30:00.000Z
             */
            shipDate?: string;
            /**
             * @description Whether the order has been fulfilled.
             * @example false
             */
            complete?: boolean;
        };
        /** @description The body to place an order. */
        NewOrder: {
            /**
             * Format: int64
             * @description Identifier of the pet in the order.
             * @example 1
             */
            petId: number;
            /** @description Number of units ordered. */
            quantity?: number;
            /**
             * Format: date-time
             * @description Expected or actual ship date.
             * @example 2026-11-24T09:30:00.000Z
             */
            shipDate?: string;
            /** @description Whether the order has been fulfilled. */
            complete?: boolean;
        };
        /** @description A JSON Merge Patch (RFC 7396). Fields that are left out do not change. */
        OrderPatch: {
            /**
             * Format: date-time
             * @description Expected or actual ship date. Null removes it.
             * @example 2026-11-24T09:30:00.000Z
             */
            shipDate?: string | null;
            /**
             * @description Whether the order has been fulfilled. True is final.
             * @example true
             */
            complete?: boolean;
        };
        /** @description A URL that receives the events of the store. */
        Webhook: {
            /**
             * @description Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
             * @example https://shop.example/events
             */
            url: string;
            /**
             * @description Types of events to send; all if left out.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated")[];
            /**
             * @description Your own note about the webhook.
             * @example Packing list printer
             */
            description?: string;
            /**
             * Format: int64
             * @description Unique webhook identifier.
             * @example 1
             */
            id: number;
            /**
             * @description Whether events are sent.
             * @example true
             */
            enabled: boolean;
            /** @description Why the service disabled the webhook; left out if it did not. */
            disabledReason?: string;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
        };
        /** @description A webhook with its signing secret, which is shown once. */
        WebhookWithSecret: {
            /**
             * @description Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
             * @example https://shop.example/events
             */
            url: string;
            /**
             * @description Types of events to send; all if left out.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated")[];
            /**
             * @description Your own note about the webhook.
             * @example Packing list printer
             */
            description?: string;
            /**
             * Format: int64
             * @description Unique webhook identifier.
             * @example 1
             */
            id: number;
            /**
             * @description Whether events are sent.
             * @example true
             */
            enabled: boolean;
            /** @description Why the service disabled the webhook; left out if it did not. */
            disabledReason?: string;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            createdAt: string;
            /**
             * @description The secret that signs deliveries: `whsec_` and 24 to 64 random bytes in base64.
             * @example whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=
             */
            secret: string;
        };
        /** @description The body to create a webhook. */
        NewWebhook: {
            /**
             * @description Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
             * @example https://shop.example/events
             */
            url: string;
            /**
             * @description Types of events to send; all if left out.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated")[];
            /**
             * @description Your own note about the webhook.
             * @example Packing list printer
             */
            description?: string;
            /** @description Whether events are sent. */
            enabled?: boolean;
        };
        /** @description A JSON Merge Patch (RFC 7396) of a webhook: only the fields to change. */
        WebhookPatch: {
            /**
             * @description Where events are sent, over https and to a public address. No user, password or port below 1024 other than 80 and 443.
             * @example https://shop.example/events
             */
            url?: string;
            /**
             * @description Types of events to send. Null means all.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated")[] | null;
            /**
             * @description Your own note about the webhook. Null removes it.
             * @example Packing list printer
             */
            description?: string | null;
            /**
             * @description Whether events are sent. Events that happen while it is false are not sent later; pending deliveries continue when it is true again.
             * @example true
             */
            enabled?: boolean;
        };
        /**
         * @description Whether it waits for an attempt (`pending`), arrived (`delivered`) or was given up (`failed`).
         * @enum {string}
         */
        DeliveryStatus: "pending" | "delivered" | "failed";
        /** @description One event on its way to one webhook. Fields that do not apply are left out. */
        Delivery: {
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
             * @description Whether it waits for an attempt (`pending`), arrived (`delivered`) or was given up (`failed`).
             * @example delivered
             */
            status: string & components["schemas"]["DeliveryStatus"];
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
             * @description When the next attempt is due; left out while the webhook is disabled.
             */
            nextAttemptAt?: string;
            /**
             * Format: int32
             * @description The status of the last response, if there was one.
             * @example 204
             */
            responseStatus?: number;
            /** @description Why the last attempt failed. */
            error?: string;
        };
        /** @description The body of every error response. Rely on the code; the message is for people. */
        Error: {
            /**
             * @description Machine-readable error code.
             * @example pet_not_found
             * @enum {string}
             */
            code: "bad_request" | "conflicting_credentials" | "invalid_cursor" | "malformed_json" | "validation_failed" | "invalid_api_key" | "missing_api_key" | "api_key_banned" | "insufficient_scope" | "category_not_found" | "delivery_not_found" | "order_not_found" | "pet_not_found" | "route_not_found" | "webhook_not_found" | "method_not_allowed" | "request_timeout" | "category_in_use" | "idempotency_in_progress" | "insufficient_stock" | "invalid_status_transition" | "order_already_complete" | "pet_has_open_orders" | "pet_not_available" | "too_many_webhooks" | "events_lost" | "operation_gone" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "unknown_category" | "unknown_pet" | "webhook_url_not_allowed" | "daily_quota_exceeded" | "rate_limit_exceeded" | "headers_too_large" | "internal_error" | "service_unavailable";
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
        };
        /**
         * @description What happened.
         * @enum {string}
         */
        EventType: "pet.created" | "pet.updated" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "inventory.updated";
        /** @description Something that happened in the store. `type` says what, and what `data` is. */
        Event: components["schemas"]["PetEvent"] | components["schemas"]["CategoryEvent"] | components["schemas"]["OrderEvent"] | components["schemas"]["InventoryEvent"];
        /** @description Something happened to a resource of type Pet. */
        PetEvent: {
            /** @description Unique identifier. The same event has the same id wherever it is sent. */
            id: string;
            /**
             * @description What happened. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "pet.created" | "pet.updated" | "pet.deleted";
            /**
             * Format: date-time
             * @description When it happened, in UTC, to the microsecond.
             * @example 2026-11-21T09:30:00.123456Z
             */
            timestamp: string;
            /** @description The resource right after the event; right before, if it was deleted or cancelled. */
            data: components["schemas"]["StoredPet"];
        };
        /** @description Something happened to a resource of type Category. */
        CategoryEvent: {
            /** @description Unique identifier. The same event has the same id wherever it is sent. */
            id: string;
            /**
             * @description What happened. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "category.created" | "category.updated" | "category.deleted";
            /**
             * Format: date-time
             * @description When it happened, in UTC, to the microsecond.
             * @example 2026-11-21T09:30:00.123456Z
             */
            timestamp: string;
            /** @description The resource right after the event; right before, if it was deleted or cancelled. */
            data: components["schemas"]["Category"];
        };
        /** @description Something happened to a resource of type Order. */
        OrderEvent: {
            /** @description Unique identifier. The same event has the same id wherever it is sent. */
            id: string;
            /**
             * @description What happened. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "order.placed" | "order.updated" | "order.completed" | "order.cancelled";
            /**
             * Format: date-time
             * @description When it happened, in UTC, to the microsecond.
             * @example 2026-11-21T09:30:00.123456Z
             */
            timestamp: string;
            /** @description The resource right after the event; right before, if it was deleted or cancelled. */
            data: components["schemas"]["StoredOrder"];
        };
        /** @description Something happened to a resource of type InventoryItem. */
        InventoryEvent: {
            /** @description Unique identifier. The same event has the same id wherever it is sent. */
            id: string;
            /**
             * @description What happened. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "inventory.updated";
            /**
             * Format: date-time
             * @description When it happened, in UTC, to the microsecond.
             * @example 2026-11-21T09:30:00.123456Z
             */
            timestamp: string;
            /** @description The resource right after the event; right before, if it was deleted or cancelled. */
            data: components["schemas"]["InventoryItem"];
        };
        /** @description The event that testWebhook sends. Nothing has happened. */
        TestEvent: {
            /** @description Unique identifier. The same event has the same id wherever it is sent. */
            id: string;
            /**
             * @description What happened.
             * @example webhook.test
             * @enum {string}
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened, in UTC, to the microsecond.
             * @example 2026-11-21T09:30:00.123456Z
             */
            timestamp: string;
            /** @description The webhook that is tested. */
            data: {
                /**
                 * Format: int64
                 * @description Identifier of the webhook.
                 * @example 1
                 */
                webhookId: number;
            };
        };
        /** @description One page of pets. */
        Pets: components["schemas"]["StoredPet"][];
        /** @description Pet as every response has it. */
        StoredPet: components["schemas"]["Pet"] & {
            status: components["schemas"]["PetStatus"];
        };
        /** @description Order as every response has it. */
        StoredOrder: components["schemas"]["Order"] & {
            /** Format: int64 */
            id: number;
            /** Format: int64 */
            petId: number;
            /** Format: int32 */
            quantity: number;
            complete: boolean;
        };
    };
    responses: {
        /**
         * @description `invalid_api_key`: The API key is mistyped, unknown, expired or revoked.
         *
         *     `missing_api_key`: The request has no API key.
         */
        Unauthorized: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_timeout`: The request did not arrive in time. */
        RequestTimeout: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `headers_too_large`: The headers are larger than 16 KiB in total. */
        RequestHeaderFieldsTooLarge: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: The service failed. `X-Request-Id` identifies the entry in its log. */
        InternalServerError: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: The service is temporarily unavailable. Try again after `Retry-After` seconds. */
        ServiceUnavailable: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `daily_quota_exceeded`: The limit of requests per day is reached. Wait for `Retry-After` seconds, until midnight UTC.
         *
         *     `rate_limit_exceeded`: The limit of requests per minute is reached. Wait for `Retry-After` seconds.
         */
        TooManyRequests: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining.429"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit.429"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `api_key_banned`: The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds.
         *
         *     `insufficient_scope`: The API key lacks the scope: `read` for GET and HEAD, `write` for other methods.
         */
        Forbidden: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Retry-After": components["headers"]["Retry-After.403"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate.403"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is larger than 64 KiB. */
        PayloadTooLarge: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The operation does not accept this media type, charset or content encoding. */
        UnsupportedMediaType: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `api_key_banned`: The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds.
         *
         *     `insufficient_scope`: The API key lacks the scope: `read` for GET and HEAD, `write` for other methods.
         */
        "Forbidden.insufficient_scope.read": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Retry-After": components["headers"]["Retry-After.403"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate.403"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `bad_request`: The request is not valid HTTP, or a header has an invalid value.
         *
         *     `conflicting_credentials`: `X-API-Key` and `Authorization` carry different keys.
         *
         *     `malformed_json`: The body is not valid JSON in UTF-8.
         *
         *     `validation_failed`: A value in the request is invalid. The message names it and says what is valid.
         */
        BadRequest: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `precondition_failed`: The resource no longer has the ETag sent in `If-Match`, or a PUT with `If-None-Match: *` finds it. */
        PreconditionFailed: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `bad_request`: The request is not valid HTTP, or a header has an invalid value.
         *
         *     `conflicting_credentials`: `X-API-Key` and `Authorization` carry different keys.
         *
         *     `malformed_json`: The body is not valid JSON in UTF-8.
         *
         *     `validation_failed`: A value in the request is invalid. The message names it and says what is valid.
         */
        "BadRequest.Idempotent-Replayed": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `bad_request`: The request is not valid HTTP, or a header has an invalid value.
         *
         *     `conflicting_credentials`: `X-API-Key` and `Authorization` carry different keys.
         *
         *     `validation_failed`: A value in the request is invalid. The message names it and says what is valid.
         */
        "BadRequest.getKey": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `invalid_cursor`: The cursor was not issued by this service.
         *
         *     `bad_request`: The request is not valid HTTP, or a header has an invalid value.
         *
         *     `conflicting_credentials`: `X-API-Key` and `Authorization` carry different keys.
         *
         *     `validation_failed`: A value in the request is invalid. The message names it and says what is valid.
         */
        "BadRequest.invalid_cursor": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `idempotency_in_progress`: The first request with this Idempotency-Key is still running. Try again shortly. */
        Conflict: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `idempotency_key_reused`: This Idempotency-Key was used for a different request in the last 24 hours. */
        UnprocessableEntity: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `pet_not_found`: No pet has this id, or it was deleted. */
        NotFound: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Not modified: the resource still has the ETag sent in `If-None-Match`. */
        NotModified: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Done; there is no body. */
        DoneThereIsNoBody: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `webhook_not_found`: Your client has no webhook with this id. */
        "NotFound.webhook_not_found": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `category_not_found`: No category has this id. */
        "NotFound.category_not_found": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `order_not_found`: No order has this id, or it was cancelled. */
        "NotFound.order_not_found": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The updated pet. */
        UpdatedPet: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": 1,
                 *       "name": "Rex",
                 *       "categoryId": 1,
                 *       "status": "available"
                 *     }
                 */
                "application/json": components["schemas"]["StoredPet"];
            };
        };
        /** @description `invalid_status_transition`: This change of status is not allowed: a sold pet cannot become pending, and a pet without stock cannot become available. */
        "Conflict.invalid_status_transition": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unknown_category`: No category has the `categoryId` in the body. */
        "UnprocessableEntity.unknown_category": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `order_already_complete`: The order is complete. It cannot be reopened or cancelled. */
        "Conflict.order_already_complete": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `webhook_not_found`: Your client has no webhook with this id. */
        "NotFound.webhook_not_found.Idempotent-Replayed": {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The event will be sent. */
        EventWillBeSent: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": 2,
                 *       "eventId": "evt_test_2",
                 *       "type": "webhook.test",
                 *       "status": "pending",
                 *       "attempts": 0,
                 *       "createdAt": "2026-11-21T09:30:00.000Z",
                 *       "nextAttemptAt": "2026-11-21T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["Delivery"];
            };
        };
    };
    parameters: {
        /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
        "If-Match": string;
        /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
        "Idempotency-Key": string;
        /** @description Identifier of the pet (Pet.id). */
        petId: number;
        /** @description Identifier of the webhook (Webhook.id). */
        webhookId: number;
        /** @description Maximum number of entries on a page. */
        limit: number;
        /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
        cursor: string;
        /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
        "If-None-Match": string;
        /** @description Identifier of the category (Category.id). */
        categoryId: number;
        /** @description Identifier of the order (Order.id). */
        orderId: number;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The request limit that applies to the caller: that of the window with the fewest requests left or, on a 429, of the exhausted window.
         * @example 60
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Unix timestamp at which that window resets; during a ban, when a request will be accepted.
         * @example 1795253460
         */
        "X-RateLimit-Reset": number;
        /**
         * @description The windows that apply: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). Without a valid key there is no daily window.
         * @example "minute";q=60;w=60, "day";q=1000;w=86400
         */
        "RateLimit-Policy": string;
        /**
         * @description The `X-Request-Id` of the request if it is 1 to 128 characters of `A-Za-z0-9._-`, or a generated one. Quote it when you report a problem.
         * @example 0b6e3c1e-6f0c-4a57-9d0e-3f4b8b0d2c11
         */
        "X-Request-Id": string;
        /**
         * @description Only the caller may cache the response, and must revalidate it before using it again.
         * @example private, no-cache
         */
        "Cache-Control": "private, no-cache";
        /**
         * @description The origins that may read the response. Present if the request has an allowed `Origin`.
         * @example *
         */
        "Access-Control-Allow-Origin": string;
        /**
         * @description Requests left in that window.
         * @example 59
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description What is left in each window: `r` requests for the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).
         * @example "minute";r=59;t=60, "day";r=999;t=40211
         */
        RateLimit: string;
        /**
         * @description Seconds to wait before the next request.
         * @example 42
         */
        "Retry-After": number;
        /**
         * @description Present if this is the stored response to an earlier request with the same `Idempotency-Key`.
         * @example true
         */
        "Idempotent-Replayed": "true";
        /** @description How to authenticate, and what is wrong with the key that was sent. */
        "WWW-Authenticate": string;
        /**
         * @description Requests left in that window.
         * @example 0
         */
        "X-RateLimit-Remaining.429": number;
        /**
         * @description What is left in each window: `r` requests for the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).
         * @example "minute";r=0;t=42, "day";r=940;t=40211
         */
        "RateLimit.429": string;
        /**
         * @description Seconds to wait before the next request.
         * @example 42
         */
        "Retry-After.403": number;
        /**
         * @description Version of the resource, for `If-Match` and `If-None-Match`.
         * @example "0SgU8bLYz3tEJ7_M5bIqkw"
         */
        ETag: string;
        /** @description How to authenticate, and what is wrong with the key that was sent. */
        "WWW-Authenticate.403": string;
        /**
         * @description When the operation was deprecated (RFC 9745): `@` and a Unix timestamp. Absent if the request could not be read.
         * @example @1793491200
         */
        Deprecation: string;
        /**
         * @description When the operation may be removed (RFC 8594). Absent if the request could not be read.
         * @example Mon, 01 Nov 2027 00:00:00 GMT
         */
        Sunset: string;
        /**
         * @description The deprecation, as `rel="deprecation"` (RFC 9745), and the successor, as `rel="successor-version"` (RFC 5829). Absent if the request could not be read.
         * @example </docs/guides/deprecation>; rel="deprecation"; type="text/html", </pets?id=1>; rel="successor-version"
         */
        Link: string;
        /**
         * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
         * @example </pets?cursor=YWZ0ZXI6MjA>; rel="next"
         */
        "Link.listPets": string;
        /**
         * @description Of the only entry. Present if the request has one `id` and nothing else.
         * @example "0SgU8bLYz3tEJ7_M5bIqkw"
         */
        "ETag.200": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Your API key. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "price list",
                     *       "endsWith": "x7Qa",
                     *       "client": "acme",
                     *       "plan": "free",
                     *       "scopes": [
                     *         "read",
                     *         "write"
                     *       ],
                     *       "createdAt": "2026-11-01T08:00:00.000Z",
                     *       "expiresAt": "2027-11-01T08:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            /** @description `api_key_banned`: The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds. */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRateLimit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Your rate limit status. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimitStatus"];
                };
            };
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            408: components["responses"]["RequestTimeout"];
            /** @description `rate_limit_exceeded`: The limit of requests per minute is reached. Wait for `Retry-After` seconds. */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining.429"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit.429"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Number of days, including today. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry per day. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "days": [
                     *         {
                     *           "date": "2026-11-21",
                     *           "requests": 42
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Usage"];
                };
            };
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listCategories: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only categories whose name starts with this text, ignoring case. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of categories. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
                     * @example </categories?cursor=YWZ0ZXI6MjA>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "name": "Dogs",
                     *         "description": "Loyal, loud and always hungry."
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Category"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCategory"];
            };
        };
        responses: {
            /** @description The category was created. */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    /**
                     * @description Path of the resource that was created.
                     * @example /categories/1
                     */
                    Location: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Dogs",
                     *       "description": "Loyal, loud and always hungry."
                     *     }
                     */
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Identifier of the category (Category.id). */
                categoryId: components["parameters"]["categoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The category. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Dogs",
                     *       "description": "Loyal, loud and always hungry."
                     *     }
                     */
                    "application/json": components["schemas"]["Category"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            404: components["responses"]["NotFound.category_not_found"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    replaceCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the category (Category.id). */
                categoryId: components["parameters"]["categoryId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCategory"];
            };
        };
        responses: {
            /** @description The updated category. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Dogs",
                     *       "description": "Loyal, loud and always hungry."
                     *     }
                     */
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.category_not_found"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the category (Category.id). */
                categoryId: components["parameters"]["categoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["DoneThereIsNoBody"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.category_not_found"];
            408: components["responses"]["RequestTimeout"];
            /** @description `category_in_use`: Pets still belong to the category. */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPets: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. With `id`, the default is 100, so that all of them are on it. */
                limit?: number;
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only pets with one of these statuses. */
                status?: components["schemas"]["PetStatus"][];
                /** @description Only pets of this category. */
                categoryId?: number;
                /** @description Only pets whose name starts with this text, ignoring case. */
                name?: string;
                /** @description Only pets with one of these ids. */
                id?: number[];
            };
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of pets. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Link: components["headers"]["Link.listPets"];
                    ETag: components["headers"]["ETag.200"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "name": "Rex",
                     *         "categoryId": 1,
                     *         "status": "available"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Pets"];
                };
            };
            /** @description Not modified: the resource still has the ETag sent in `If-None-Match`. */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Link: components["headers"]["Link.listPets"];
                    ETag: components["headers"]["ETag.200"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The pet was created. */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    /**
                     * @description Path of the resource that was created.
                     * @example /pets/1
                     */
                    Location: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 1,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["StoredPet"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description `idempotency_key_reused`: This Idempotency-Key was used for a different request in the last 24 hours.
             *
             *     `unknown_category`: No category has the `categoryId` in the body.
             */
            422: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pet. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 1,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["StoredPet"];
                };
            };
            /** @description Not modified: the resource still has the ETag sent in `If-None-Match`. */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `bad_request`: The request is not valid HTTP, or a header has an invalid value.
             *
             *     `conflicting_credentials`: `X-API-Key` and `Authorization` carry different keys.
             *
             *     `validation_failed`: A value in the request is invalid. The message names it and says what is valid.
             */
            400: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `invalid_api_key`: The API key is mistyped, unknown, expired or revoked.
             *
             *     `missing_api_key`: The request has no API key.
             */
            401: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `api_key_banned`: The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds.
             *
             *     `insufficient_scope`: The API key lacks the scope: `read` for GET and HEAD, `write` for other methods.
             */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Retry-After": components["headers"]["Retry-After.403"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate.403"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `pet_not_found`: No pet has this id, or it was deleted. */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `request_timeout`: The request did not arrive in time. */
            408: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `operation_gone`: The operation was deprecated and its sunset has passed. `Link` names its successor. */
            410: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `daily_quota_exceeded`: The limit of requests per day is reached. Wait for `Retry-After` seconds, until midnight UTC.
             *
             *     `rate_limit_exceeded`: The limit of requests per minute is reached. Wait for `Retry-After` seconds.
             */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining.429"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit.429"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `headers_too_large`: The headers are larger than 16 KiB in total. */
            431: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: The service failed. `X-Request-Id` identifies the entry in its log. */
            500: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: The service is temporarily unavailable. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replacePet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            200: components["responses"]["UpdatedPet"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict.invalid_status_transition"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity.unknown_category"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deletePet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["DoneThereIsNoBody"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            /** @description `pet_has_open_orders`: The pet still has open orders. */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updatePet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PetPatch"];
            };
        };
        responses: {
            200: components["responses"]["UpdatedPet"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict.invalid_status_transition"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity.unknown_category"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listInventory: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only entries of pets with one of these statuses. */
                status?: components["schemas"]["PetStatus"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of stock counts. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
                     * @example </store/inventory?cursor=YWZ0ZXI6MjA>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "petId": 1,
                     *         "quantity": 3,
                     *         "status": "available"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["InventoryItem"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getInventory: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stock of the pet. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "petId": 1,
                     *       "quantity": 3,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setInventory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InventoryUpdate"];
            };
        };
        responses: {
            /** @description The updated stock. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "petId": 1,
                     *       "quantity": 3,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    adjustInventory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Identifier of the pet (Pet.id). */
                petId: components["parameters"]["petId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InventoryAdjustment"];
            };
        };
        responses: {
            /** @description The updated stock. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "petId": 1,
                     *       "quantity": 3,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description `pet_not_found`: No pet has this id, or it was deleted. */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            /**
             * @description `idempotency_in_progress`: The first request with this Idempotency-Key is still running. Try again shortly.
             *
             *     `insufficient_stock`: There are not enough units in stock.
             */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only orders for this pet. */
                petId?: number;
                /** @description Only fulfilled orders (true) or only open ones (false). */
                complete?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of orders. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
                     * @example </store/orders?cursor=YWZ0ZXI6MjA>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "petId": 1,
                     *         "quantity": 1,
                     *         "shipDate": "2026-11-24T09:30:00.000Z",
                     *         "complete": false
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["StoredOrder"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    placeOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrder"];
            };
        };
        responses: {
            /** @description The order was placed. */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    /**
                     * @description Path of the resource that was created.
                     * @example /store/orders/1
                     */
                    Location: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "petId": 1,
                     *       "quantity": 1,
                     *       "shipDate": "2026-11-24T09:30:00.000Z",
                     *       "complete": false
                     *     }
                     */
                    "application/json": components["schemas"]["StoredOrder"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /**
             * @description `idempotency_in_progress`: The first request with this Idempotency-Key is still running. Try again shortly.
             *
             *     `insufficient_stock`: There are not enough units in stock.
             *
             *     `pet_not_available`: The pet's status is not `available`.
             */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description `idempotency_key_reused`: This Idempotency-Key was used for a different request in the last 24 hours.
             *
             *     `unknown_pet`: No pet has the `petId` in the body.
             */
            422: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Identifier of the order (Order.id). */
                orderId: components["parameters"]["orderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "petId": 1,
                     *       "quantity": 1,
                     *       "shipDate": "2026-11-24T09:30:00.000Z",
                     *       "complete": false
                     *     }
                     */
                    "application/json": components["schemas"]["StoredOrder"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            404: components["responses"]["NotFound.order_not_found"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the order (Order.id). */
                orderId: components["parameters"]["orderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["DoneThereIsNoBody"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.order_not_found"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict.order_already_complete"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the order (Order.id). */
                orderId: components["parameters"]["orderId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderPatch"];
            };
        };
        responses: {
            /** @description The updated order. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "petId": 1,
                     *       "quantity": 1,
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["StoredOrder"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.order_not_found"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict.order_already_complete"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `now`, or the one from the `Link` header of the previous page, which is opaque. */
                cursor?: string;
                /** @description Only events of one of these types. */
                type?: components["schemas"]["EventType"][];
                /** @description Only events about this pet, its stock and its orders. */
                petId?: number;
                /** @description How many seconds to wait for an event if there is none yet. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next events; none if nothing has happened since. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page of the feed, as `rel="next"` (RFC 8288). Every page has it, even an empty one.
                     * @example </events?cursor=ZXZlbnQ6MTA5OS4xNzk1MjUzNDAwMDAwMDAwLjQ5OQ>; rel="next"
                     */
                    Link: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11",
                     *         "type": "order.placed",
                     *         "timestamp": "2026-11-21T09:30:00.123456Z",
                     *         "data": {
                     *           "id": 1,
                     *           "petId": 1,
                     *           "quantity": 1,
                     *           "complete": false
                     *         }
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Event"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            /** @description `events_lost`: The service has lost events up to this cursor: a standby that was behind took over, or a backup was restored. `Link` has the cursor to go on from. */
            410: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /** @description The next page, as `rel="next"` (RFC 8288). Absent on the last page. */
                    Link: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of webhooks. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
                     * @example </webhooks?cursor=YWZ0ZXI6MjA>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "url": "https://shop.example/events",
                     *         "types": [
                     *           "order.placed",
                     *           "order.completed"
                     *         ],
                     *         "description": "Packing list printer",
                     *         "enabled": true,
                     *         "createdAt": "2026-11-21T09:30:00.000Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Webhook"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description The webhook was created. */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    /**
                     * @description Path of the resource that was created.
                     * @example /webhooks/1
                     */
                    Location: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "url": "https://shop.example/events",
                     *       "types": [
                     *         "order.placed",
                     *         "order.completed"
                     *       ],
                     *       "description": "Packing list printer",
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T09:30:00.000Z",
                     *       "secret": "whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /**
             * @description `idempotency_in_progress`: The first request with this Idempotency-Key is still running. Try again shortly.
             *
             *     `too_many_webhooks`: Your client already has 10 webhooks.
             */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /**
             * @description `idempotency_key_reused`: This Idempotency-Key was used for a different request in the last 24 hours.
             *
             *     `webhook_url_not_allowed`: Webhooks may not be sent to the `url` in the body. The message says why.
             */
            422: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag from an earlier response. If the resource has not changed, the response is 304 and the request is refunded, at most as often in a window as its limit. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "url": "https://shop.example/events",
                     *       "types": [
                     *         "order.placed",
                     *         "order.completed"
                     *       ],
                     *       "description": "Packing list printer",
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest.getKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            404: components["responses"]["NotFound.webhook_not_found"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["DoneThereIsNoBody"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.webhook_not_found"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that the resource must still have, with its quotes. Otherwise the response is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description The updated webhook. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "url": "https://shop.example/events",
                     *       "types": [
                     *         "order.placed",
                     *         "order.completed"
                     *       ],
                     *       "description": "Packing list printer",
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.webhook_not_found"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `webhook_url_not_allowed`: Webhooks may not be sent to the `url` in the body. The message says why. */
            422: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook with its new secret. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "url": "https://shop.example/events",
                     *       "types": [
                     *         "order.placed",
                     *         "order.completed"
                     *       ],
                     *       "description": "Packing list printer",
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T09:30:00.000Z",
                     *       "secret": "whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.webhook_not_found.Idempotent-Replayed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["EventWillBeSent"];
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound.webhook_not_found.Idempotent-Replayed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts. Opaque: use the one from the `Link` header of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Only deliveries with this status. */
                status?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of deliveries. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    /**
                     * @description The next page, as `rel="next"` (RFC 8288). Absent on the last page.
                     * @example </webhooks/{webhookId}/deliveries?cursor=YWZ0ZXI6MjA>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "eventId": "evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11",
                     *         "type": "order.placed",
                     *         "status": "delivered",
                     *         "attempts": 1,
                     *         "createdAt": "2026-11-21T09:30:00.000Z",
                     *         "lastAttemptAt": "2026-11-21T09:30:00.000Z",
                     *         "responseStatus": 204
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Delivery"][];
                };
            };
            400: components["responses"]["BadRequest.invalid_cursor"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden.insufficient_scope.read"];
            404: components["responses"]["NotFound.webhook_not_found"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry. For 24 hours, the same key with the same body (the same JSON value, however it is spaced) returns the first response again and changes nothing. Use a new key, such as a UUID, for each new request. Errors are kept too, except 401, 403, 429, 5xx and unreadable bodies (400 `malformed_json`, 413, 415). */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Identifier of the webhook (Webhook.id). */
                webhookId: components["parameters"]["webhookId"];
                /** @description Identifier of the delivery (Delivery.id). */
                deliveryId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["EventWillBeSent"];
            400: components["responses"]["BadRequest.Idempotent-Replayed"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /**
             * @description `delivery_not_found`: The webhook has no delivery with this id, or it is older than 30 days.
             *
             *     `webhook_not_found`: Your client has no webhook with this id.
             */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
