import { sqlMigration } from './sql-migration';

/** A client with several keys tells them apart by what each is for. */
export const NamesOfKeys1795800000000 = sqlMigration(
  'NamesOfKeys1795800000000',
  [
    `ALTER TABLE api_keys ADD COLUMN name text,
      ADD CONSTRAINT api_keys_name_check CHECK (char_length(name) BETWEEN 1 AND 100)`,
  ],
  [`ALTER TABLE api_keys DROP COLUMN name`],
);
