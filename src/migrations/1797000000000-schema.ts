import type { MigrationInterface, QueryRunner } from 'typeorm';

const CATALOGUE = [
  `CREATE TABLE categories (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text CHECK (char_length(description) <= 2000),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX categories_by_name ON categories (lower(name) COLLATE "C", id)`,

  // A deleted pet keeps its row, with `deleted_at`, and its category moves to `former_category_id`, so that the
  // category can be deleted.
  `CREATE TABLE pets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    category_id bigint CONSTRAINT pets_category_fk REFERENCES categories (id) ON DELETE RESTRICT,
    former_category_id bigint,
    status text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    -- The units in stock and the number of open orders. The status depends on both.
    stock integer NOT NULL CHECK (stock >= 0),
    open_orders integer NOT NULL DEFAULT 0 CHECK (open_orders >= 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CHECK ((deleted_at IS NULL) = (category_id IS NOT NULL))
  -- Each page keeps free space for new versions of its rows, so that a change of the stock updates no index.
  ) WITH (fillfactor = 90)`,
  `CREATE INDEX pets_in_order ON pets (id) WHERE deleted_at IS NULL`,
  `CREATE INDEX pets_by_status ON pets (status, id) WHERE deleted_at IS NULL`,
  // This index serves lists of a category's pets, and the check whether a category that is being deleted still has
  // pets.
  `CREATE INDEX pets_by_category ON pets (category_id, status DESC, id) WHERE category_id IS NOT NULL`,
  `CREATE INDEX pets_by_name ON pets (lower(name) COLLATE "C", id) WHERE deleted_at IS NULL`,

  `CREATE TABLE orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pet_id bigint NOT NULL REFERENCES pets (id),
    quantity integer NOT NULL CHECK (quantity >= 1),
    ship_date timestamptz,
    complete boolean NOT NULL DEFAULT false,
    placed_at timestamptz NOT NULL DEFAULT now(),
    cancelled_at timestamptz,
    CHECK (NOT (complete AND cancelled_at IS NOT NULL))
  )`,
  `CREATE INDEX orders_by_complete ON orders (complete, id) WHERE cancelled_at IS NULL`,
  `CREATE INDEX orders_by_pet ON orders (pet_id, complete DESC, id) WHERE cancelled_at IS NULL`,
];

const CLIENTS = [
  `CREATE TABLE clients (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    plan text NOT NULL,
    per_minute integer CHECK (per_minute >= 1),
    per_day integer CHECK (per_day >= 1),
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    reset_at timestamptz
  )`,
  // A deleted client keeps its row, with `deleted_at`. Another client may take its name.
  `CREATE UNIQUE INDEX clients_name_key ON clients (name) WHERE deleted_at IS NULL`,
  // `overlap_ends_at` is null until a new key replaces this key. Both keys work until the time in this column.
  `CREATE TABLE api_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id bigint NOT NULL REFERENCES clients (id),
    digest text NOT NULL CONSTRAINT api_keys_digest_key UNIQUE,
    last4 text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    overlap_ends_at timestamptz,
    name text CHECK (char_length(name) BETWEEN 1 AND 100),
    ban_level integer NOT NULL DEFAULT 0,
    banned_until timestamptz,
    banned_by_operator boolean NOT NULL DEFAULT false,
    ban_changed_at timestamptz
  )`,
  `CREATE INDEX api_keys_by_client ON api_keys (client_id, id)`,

  // Counts the requests of each client on each UTC day. The row of the present day also has the count of the current minute.
  `CREATE TABLE usage_days (
    client_id bigint NOT NULL,
    day date NOT NULL,
    requests bigint NOT NULL,
    refunds bigint NOT NULL DEFAULT 0,
    forgiven bigint NOT NULL DEFAULT 0,
    minute_start timestamptz,
    minute_requests integer NOT NULL DEFAULT 0,
    minute_refunds integer NOT NULL DEFAULT 0,
    PRIMARY KEY (client_id, day)
  )`,
  // For a new day, PostgreSQL has no statistics yet and may use this index to find the row of a single client. The
  // index includes `client_id`, so that such a search does not read the entries of all clients.
  `CREATE INDEX usage_days_by_day ON usage_days (day, client_id)`,

  `CREATE TABLE deprecated_calls (
    key_id bigint NOT NULL,
    operation text NOT NULL,
    day date NOT NULL,
    calls bigint NOT NULL,
    last_call_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, operation, day)
  )`,
  `CREATE INDEX deprecated_calls_by_day ON deprecated_calls (day)`,
  `CREATE TABLE idempotency_records (
    name text PRIMARY KEY,
    fingerprint text NOT NULL,
    status integer NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at)`,
];

const AUDIT = [
  `CREATE TABLE audit_entries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    actor_kind text NOT NULL CHECK (actor_kind IN ('cli', 'key', 'service')),
    actor text NOT NULL,
    action text NOT NULL,
    client_id bigint,
    client_name text,
    key_id bigint,
    details jsonb NOT NULL
  )`,
  `CREATE INDEX audit_entries_by_time ON audit_entries (at, id)`,

  // Refuses changes and deletions of audit entries. The owner of the table and a superuser can still drop the trigger.
  `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'The audit trail is append-only: % is refused.', TG_OP;
    END $$`,
  `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
];

const EVENTS = [
  `CREATE TABLE events (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time timestamptz NOT NULL DEFAULT clock_timestamp(),
    id uuid NOT NULL,
    type text NOT NULL,
    pet_id bigint,
    data text NOT NULL
  )`,

  // Before a transaction inserts events, this function takes a shared advisory lock that contains the last position
  // that the sequence has given out. The events of this transaction get later positions. Until the transaction ends,
  // `feed_end` finds the lock and returns no later position (docs/development/concurrency.md).
  `CREATE FUNCTION announce_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF pg_advisory_xact_lock_shared('events_position_seq'::regclass::oid::integer,
          coalesce(pg_sequence_last_value('events_position_seq'), 0)::bit(32)::integer) IS NULL THEN
        RAISE EXCEPTION 'The lock was not taken.';
      END IF;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER events_announced BEFORE INSERT ON events
    FOR EACH STATEMENT EXECUTE FUNCTION announce_events()`,
  // Returns the position up to which no more events can appear. This is the lowest position in the locks that
  // `announce_events` has taken or, without such locks, the last position that the sequence has given out.
  `CREATE FUNCTION feed_end() RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      sequence oid;
      newest bigint;
    BEGIN
      SELECT tableoid, CASE WHEN is_called THEN last_value ELSE 0 END INTO sequence, newest FROM events_position_seq;
      RETURN newest - (SELECT greatest(0, max((newest - objid::bigint)::bit(32)::integer)) FROM pg_locks
        WHERE locktype = 'advisory' AND classid = sequence AND objsubid = 2
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
    END $$`,
];

const WEBHOOKS = [
  // A webhook is on probation until its receiver has accepted a delivery. During the probation, only one attempt runs
  // at a time.
  `CREATE TABLE webhooks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id bigint NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    url text NOT NULL,
    types text,
    description text,
    enabled boolean NOT NULL,
    disabled_reason text,
    failing_since timestamptz,
    secrets text NOT NULL,
    created_at timestamptz NOT NULL,
    paused_until timestamptz,
    since bigint NOT NULL DEFAULT 0,
    proven boolean NOT NULL DEFAULT false,
    probe_after timestamptz,
    quick boolean NOT NULL DEFAULT false
  )`,
  `CREATE INDEX webhooks_of_client ON webhooks (client_id, id)`,
  `CREATE INDEX webhooks_enabled ON webhooks (id) WHERE enabled`,
  // Limits a client to ten webhooks. The client is locked, so that two concurrent inserts cannot both add the tenth.
  `CREATE FUNCTION limit_webhooks_of_client() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM clients WHERE id = NEW.client_id AND deleted_at IS NULL FOR NO KEY UPDATE;
      IF NOT FOUND THEN
        RETURN NULL;
      END IF;
      IF (SELECT count(*) FROM webhooks WHERE client_id = NEW.client_id) >= 10 THEN
        RAISE EXCEPTION 'client % has ten webhooks', NEW.client_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'webhooks_of_client';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER webhooks_limited BEFORE INSERT ON webhooks
    FOR EACH ROW EXECUTE FUNCTION limit_webhooks_of_client()`,
  // When a webhook is created or enabled, this function sets the webhook's `since` to the end of the feed, so that the
  // webhook receives only later events.
  `CREATE FUNCTION begin_webhook_now() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' OR NOT OLD.enabled THEN
        NEW.since := feed_end();
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER webhooks_begin_now BEFORE INSERT OR UPDATE OF enabled, url ON webhooks
    FOR EACH ROW WHEN (NEW.enabled) EXECUTE FUNCTION begin_webhook_now()`,

  // Until `leased_until`, only the instance that has set this time may send the delivery.
  `CREATE TABLE webhook_deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL,
    event_id text NOT NULL,
    type text NOT NULL,
    position bigint,
    status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    last_attempt_at timestamptz,
    response_status integer,
    error text,
    leased_until timestamptz
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`,
  `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, due_at) WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id) WHERE leased_until IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, status, id)`,
  `CREATE INDEX webhook_deliveries_by_day ON webhook_deliveries (((created_at AT TIME ZONE 'UTC')::date))`,

  `CREATE TABLE webhook_dispatch (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint NOT NULL
  )`,
  `INSERT INTO webhook_dispatch (position) VALUES (0)`,
];

const INSTANCES = [
  // Every running instance updates its row every few seconds. Free space on the disk page (a low fill factor) makes
  // such updates cheap.
  `CREATE TABLE instances (
    id uuid PRIMARY KEY,
    version text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    address text NOT NULL,
    port integer NOT NULL,
    degraded boolean NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50)`,
];

export class Schema1797000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...CATALOGUE, ...CLIENTS, ...AUDIT, ...EVENTS, ...WEBHOOKS, ...INSTANCES]) {
      await queryRunner.query(statement);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Nothing comes before this schema: drop the database.'));
  }
}
