-- The peers' tables: the columns and indexes that the operations compared need, the same for every checkout of the service.
CREATE TABLE clients (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
  per_minute integer NOT NULL, per_day integer NOT NULL);
CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, client_id bigint NOT NULL REFERENCES clients (id),
  digest text NOT NULL UNIQUE, expires_at timestamptz, revoked_at timestamptz);

CREATE TABLE categories (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200), description text);
CREATE TABLE pets (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  category_id bigint REFERENCES categories (id),
  status text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz);
CREATE INDEX pets_in_order ON pets (id) WHERE deleted_at IS NULL;
CREATE INDEX pets_by_category ON pets (category_id, status DESC, id) WHERE category_id IS NOT NULL;
CREATE INDEX pets_by_status ON pets (status, id) WHERE deleted_at IS NULL;
CREATE INDEX pets_name_prefix ON pets (lower(name) text_pattern_ops, id) INCLUDE (name) WHERE deleted_at IS NULL;

CREATE TABLE inventory (
  pet_id bigint PRIMARY KEY REFERENCES pets (id), quantity integer NOT NULL CHECK (quantity >= 0));
CREATE TABLE orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pet_id bigint NOT NULL REFERENCES pets (id),
  quantity integer NOT NULL CHECK (quantity >= 1), ship_date timestamptz, complete boolean NOT NULL DEFAULT false,
  placed_at timestamptz NOT NULL DEFAULT now(), cancelled_at timestamptz);
CREATE INDEX orders_by_pet ON orders (pet_id, complete DESC, id) WHERE cancelled_at IS NULL;
CREATE INDEX orders_by_complete ON orders (complete, id) WHERE cancelled_at IS NULL;

CREATE TABLE idempotency_records (
  owner_id bigint NOT NULL, key text NOT NULL, fingerprint text NOT NULL, status integer NOT NULL, body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (owner_id, key));
CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at);

-- Volatile, so that it also sees what was committed while the statement that asks waited for the pet's lock.
CREATE FUNCTION has_open_orders(pet bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN RETURN EXISTS (SELECT FROM orders WHERE pet_id = pet AND NOT complete AND cancelled_at IS NULL); END $$;
