import { sqlMigration } from './sql-migration';

/** Nothing searches the audit log any more; it is read by time. */
export const AuditWithoutSearch1796200000000 = sqlMigration(
  'AuditWithoutSearch1796200000000',
  [
    `DROP INDEX audit_entries_by_client, audit_entries_by_key, audit_entries_by_new_key, audit_entries_by_action`,
  ],
  [
    `CREATE INDEX audit_entries_by_client ON audit_entries (client_name, at, id)`,
    `CREATE INDEX audit_entries_by_key ON audit_entries (key_id, at, id)`,
    `CREATE INDEX audit_entries_by_new_key ON audit_entries (((details ->> 'newKeyId')::bigint))`,
    `CREATE INDEX audit_entries_by_action ON audit_entries (action text_pattern_ops, at, id)`,
  ],
);
