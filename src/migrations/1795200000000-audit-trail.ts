import { sqlMigration } from './sql-migration';

const UP = [
  // No foreign keys, so that later changes to a client or a key do not affect entries.
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
  `CREATE INDEX audit_entries_by_client ON audit_entries (client_name, at, id)`,
  `CREATE INDEX audit_entries_by_key ON audit_entries (key_id, at, id)`,
  `CREATE INDEX audit_entries_by_new_key ON audit_entries (((details ->> 'newKeyId')::bigint))`,
  `CREATE INDEX audit_entries_by_action ON audit_entries (action text_pattern_ops, at, id)`,
  // Earned bans are written in batches. A batch may be retried although it was written and its response was lost.
  `CREATE UNIQUE INDEX audit_entries_earned_ban_once ON audit_entries (key_id, at)
    WHERE action = 'key.banned' AND actor_kind = 'key'`,

  // Protects against the service and against mistakes in psql. The owner of the table and a superuser can still drop
  // the trigger or the table; only an external copy protects against that.
  `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'The audit trail is append-only: % is refused.', TG_OP;
    END $$`,
  `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
];

const DOWN = [`DROP TABLE audit_entries`, `DROP FUNCTION refuse_audit_change`];

/** Who did what to which client or key, and when. */
export const AuditTrail1795200000000 = sqlMigration('AuditTrail1795200000000', UP, DOWN);
