import { sqlMigration } from './sql-migration';

const UP = [
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
    deleted_at timestamptz,
    paused_until timestamptz
  )`,
  `CREATE INDEX webhooks_of_client ON webhooks (client_id, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX webhooks_enabled ON webhooks (id) WHERE enabled`,
  // Counted while the client is locked, so that two concurrent inserts cannot both be the tenth.
  `CREATE FUNCTION limit_webhooks_of_client() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM clients WHERE id = NEW.client_id FOR NO KEY UPDATE;
      IF (SELECT count(*) FROM webhooks WHERE client_id = NEW.client_id AND deleted_at IS NULL) >= 10 THEN
        RAISE EXCEPTION 'client % has ten webhooks', NEW.client_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'webhooks_of_client';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER webhooks_limited BEFORE INSERT ON webhooks
    FOR EACH ROW EXECUTE FUNCTION limit_webhooks_of_client()`,

  // Each row is written three times within moments, so dead rows are vacuumed early.
  `CREATE TABLE webhook_deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_id text NOT NULL,
    type text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    last_attempt_at timestamptz,
    response_status integer,
    error text,
    day date NOT NULL GENERATED ALWAYS AS ((created_at AT TIME ZONE 'UTC')::date) STORED
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`,
  `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, due_at) WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, status, id)`,
  `CREATE INDEX webhook_deliveries_by_day ON webhook_deliveries (day)`,

  // A single row: the position in the feed up to which deliveries were created.
  `CREATE TABLE webhook_dispatch (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint NOT NULL
  )`,
  // Existing events are not sent.
  `INSERT INTO webhook_dispatch (position) SELECT coalesce(max(position), 1) FROM events`,
];

const DOWN = [
  `DROP TABLE webhook_dispatch, webhook_deliveries, webhooks`,
  `DROP FUNCTION limit_webhooks_of_client`,
];

/** The webhooks of clients, and their deliveries. */
export const Webhooks1795550000000 = sqlMigration('Webhooks1795550000000', UP, DOWN);
