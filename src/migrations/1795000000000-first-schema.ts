import { sqlMigration } from './sql-migration';

const UP = [
  `CREATE TABLE categories (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text CHECK (char_length(description) <= 2000),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX categories_name_prefix ON categories (lower(name) text_pattern_ops, id)`,

  // The row of a deleted pet is kept for the books but no longer uses its category, so that the category can be
  // deleted, too.
  `CREATE TABLE pets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    category_id bigint CONSTRAINT pets_category_fk REFERENCES categories (id) ON DELETE RESTRICT,
    former_category_id bigint,
    status text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CHECK ((deleted_at IS NULL) = (category_id IS NOT NULL))
  )`,
  `CREATE INDEX pets_by_category ON pets (category_id, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX pets_by_status ON pets (status, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX pets_name_prefix ON pets (lower(name) text_pattern_ops, id) WHERE deleted_at IS NULL`,

  `CREATE TABLE inventory (
    pet_id bigint PRIMARY KEY REFERENCES pets (id),
    quantity integer NOT NULL CONSTRAINT inventory_never_below_zero CHECK (quantity >= 0)
  )`,
  // Stock and status are read in one statement, so that they are consistent.
  `CREATE VIEW inventory_items AS
    SELECT inventory.pet_id, inventory.quantity, pets.status
    FROM inventory JOIN pets ON pets.id = inventory.pet_id WHERE pets.deleted_at IS NULL`,

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
  `CREATE INDEX orders_by_pet ON orders (pet_id, id) WHERE cancelled_at IS NULL`,
  `CREATE INDEX orders_by_complete ON orders (complete, id) WHERE cancelled_at IS NULL`,
  `CREATE INDEX orders_open ON orders (pet_id) WHERE NOT complete AND cancelled_at IS NULL`,

  `CREATE TABLE clients (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CONSTRAINT clients_name_key UNIQUE CHECK (char_length(name) BETWEEN 1 AND 100),
    plan text NOT NULL,
    per_minute integer CHECK (per_minute >= 1),
    per_day integer CHECK (per_day >= 1),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE api_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id bigint NOT NULL REFERENCES clients (id),
    digest text NOT NULL CONSTRAINT api_keys_digest_key UNIQUE,
    last4 text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
  )`,
  `CREATE INDEX api_keys_by_client ON api_keys (client_id, id)`,

  // Notifies every instance of a change, even one made with psql. Updates of the last use are irrelevant to the limits.
  `CREATE FUNCTION notify_client_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_notify('petstore_keys', NEW.id::text); RETURN NULL; END $$`,
  `CREATE FUNCTION notify_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN PERFORM pg_notify('petstore_keys', OLD.client_id::text); END IF;
      IF TG_OP <> 'DELETE' THEN PERFORM pg_notify('petstore_keys', NEW.client_id::text); END IF;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER clients_changed AFTER UPDATE OF name, plan, per_minute, per_day ON clients
    FOR EACH ROW EXECUTE FUNCTION notify_client_changed()`,
  `CREATE TRIGGER api_keys_changed AFTER INSERT OR DELETE OR UPDATE OF client_id, digest, scopes, expires_at, revoked_at
    ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_key_changed()`,

  `CREATE TABLE usage_days (
    client_id bigint NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    day date NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (client_id, day)
  )`,
  `CREATE TABLE key_bans (
    key_id bigint PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    level integer NOT NULL,
    banned_until timestamptz NOT NULL
  )`,
  `CREATE TABLE deprecated_calls (
    key_id bigint NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    operation text NOT NULL,
    day date NOT NULL,
    calls bigint NOT NULL,
    last_call_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, operation, day)
  )`,
  `CREATE TABLE idempotency_records (
    owner_id bigint NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status integer NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_id, key)
  )`,
  `CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at)`,
];

const DOWN = [
  `DROP VIEW inventory_items`,
  `DROP TABLE idempotency_records, deprecated_calls, key_bans, usage_days, api_keys, clients, orders, inventory, pets, categories`,
  `DROP FUNCTION notify_client_changed, notify_key_changed`,
];

export const FirstSchema1795000000000 = sqlMigration('FirstSchema1795000000000', UP, DOWN);
