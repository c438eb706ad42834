import type { EntityManager } from 'typeorm';

export interface CatalogTable {
  /** Quoted for use in statements. */
  name: string;
  /** Writable columns, quoted for use in statements; generated columns are left out. */
  columns: string[];
}

const TABLES = `SELECT pg_class.oid::int AS id, relname, quote_ident(relname) AS name,
    (SELECT array_agg(quote_ident(attname) ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
    (SELECT array_agg(DISTINCT confrelid::int) FROM pg_constraint
      WHERE conrelid = pg_class.oid AND contype = 'f' AND confrelid <> conrelid) AS parents
  FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY relname`;

interface Row extends CatalogTable {
  id: number;
  relname: string;
  parents: number[] | null;
}

/** All tables of the schema but that of the migrations, parents before the children that refer to them. */
export async function catalogTables(transaction: EntityManager): Promise<CatalogTable[]> {
  const except = transaction.dataSource.options.migrationsTableName;
  const waiting = await transaction.query<Row[]>(TABLES);
  const ordered: Row[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ parents }) => !waiting.some(({ id }) => parents?.includes(id)));
    if (next === -1) {
      throw new Error(`These tables refer to each other: ${waiting.map(({ name }) => name).join(', ')}`);
    }
    ordered.push(...waiting.splice(next, 1));
  }
  return ordered.filter(({ relname }) => relname !== except).map(({ name, columns }) => ({ name, columns }));
}

/** All sequences of the schema but that of the migrations, quoted for use in statements. */
export async function catalogSequences(transaction: EntityManager): Promise<string[]> {
  const rows = await transaction.query<{ name: string }[]>(
    `SELECT quote_ident(relname) AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' AND NOT EXISTS (
       SELECT FROM pg_depend WHERE objid = pg_class.oid AND refobjid = to_regclass($1) AND deptype IN ('a', 'i'))
     ORDER BY relname`,
    [transaction.dataSource.options.migrationsTableName],
  );
  return rows.map(({ name }) => name);
}

/** Values are written and read in the same format, whatever the two servers are configured to. */
export async function fixFormats(transaction: EntityManager): Promise<void> {
  await transaction.query(
    `SELECT set_config('DateStyle', 'ISO, YMD', true), set_config('IntervalStyle', 'postgres', true),
      set_config('extra_float_digits', '3', true), set_config('bytea_output', 'hex', true)`,
  );
}
