// Copies a whole store into an empty database, table by table, through COPY.
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { DataSource, EntityManager } from 'typeorm';
import { WITHOUT_TIMEOUTS, doneMigrations, migrateWithin } from './migrations';

export interface CopiedTable extends Record<string, unknown> {
  table: string;
  rows: number;
}

interface CopyOptions {
  /** Ends both connections; the copy then fails with the signal's reason. */
  signal: AbortSignal;
  /** Tables that stay empty: what they tell of is not true of the copy. */
  leftOut?: readonly string[];
  /** Called with the rows copied so far and the total. */
  onRows?: (done: number, total: number) => void;
}

/**
 * Copies a snapshot of a database, which others may use meanwhile, into one without tables: all or nothing. It must be at
 * the newest migration.
 * @param source without `pipeline`, like the target: COPY does not work with it
 * @throws Error if it is not, or the target has tables; UnsuitableDatabaseError; what the drivers throw
 */
export function copyDatabase(
  source: DataSource,
  target: DataSource,
  { signal, leftOut = [], onRows = () => undefined }: CopyOptions,
): Promise<CopiedTable[]> {
  return source.transaction('REPEATABLE READ', (reading) =>
    target.transaction(async (writing) => {
      const clients = [await clientOf(reading), await clientOf(writing)];
      const end = () =>
        clients.forEach((client) => {
          client.end().catch(() => undefined);
        });
      signal.addEventListener('abort', end, { once: true });
      try {
        signal.throwIfAborted();
        return await copyAll(reading, writing, leftOut, onRows);
      } catch (error) {
        // The rest of a table is never read, so a rollback would wait behind it forever.
        end();
        throw signal.aborted ? signal.reason : error;
      } finally {
        signal.removeEventListener('abort', end);
      }
    }),
  );
}

async function copyAll(
  reading: EntityManager,
  writing: EntityManager,
  leftOut: readonly string[],
  onRows: (done: number, total: number) => void,
): Promise<CopiedTable[]> {
  await reading.query('SET TRANSACTION READ ONLY');
  for (const side of [reading, writing]) {
    await side.query(WITHOUT_TIMEOUTS);
    await side.query(FORMATS);
  }
  await prepare(reading, writing);
  const tables = (await tablesOf(writing)).filter(({ relname }) => !leftOut.includes(relname));
  const names = tables.map(({ name }) => name);
  const counted = names.map((name) => `(SELECT count(*)::float8 FROM ${name})`);
  const [{ counts }] = await reading.query<[{ counts: number[] }]>(
    `SELECT ARRAY[${counted.join()}] AS counts`,
  );
  // Triggers have run already in the source.
  await writing.query(names.map((name) => `ALTER TABLE ${name} DISABLE TRIGGER USER`).join(';'));
  await writing.query(`TRUNCATE ${names.join(', ')}`);
  const total = counts.reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of tables) {
    await copyTable(table, reading, writing, (more) => onRows((done += more), total));
  }
  await writing.query(names.map((name) => `ALTER TABLE ${name} ENABLE TRIGGER USER`).join(';'));
  await copySequences(reading, writing);
  // Without statistics PostgreSQL would plan for nearly empty tables.
  await writing.query('ANALYZE');
  return tables.map(({ relname }, at) => ({ table: relname, rows: counts[at]! }));
}

/** Makes the tables of the target. A service that starts on it now waits for the end. */
async function prepare(reading: EntityManager, writing: EntityManager): Promise<void> {
  const [existing] = await tablesOf(writing);
  if (existing !== undefined) {
    throw new Error(`the target is not empty: it has the table ${existing.name}`);
  }
  await migrateWithin(writing);
  if (String(await doneMigrations(reading)) !== String(await doneMigrations(writing))) {
    throw new Error('the store is not at the newest migration of this version; migrate it first');
  }
}

/** The same on both servers, whatever they are configured to. */
const FORMATS = `SELECT set_config('DateStyle', 'ISO, YMD', true), set_config('IntervalStyle', 'postgres', true),
  set_config('extra_float_digits', '3', true), set_config('bytea_output', 'hex', true)`;

/**
 * `name` and `columns` are quoted for use in statements; generated columns are left out. In the order in which they were
 * made: parents before the children that refer to them.
 */
const TABLES = `SELECT relname, quote_ident(relname) AS name,
    (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
  FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY oid`;

interface Table {
  relname: string;
  name: string;
  columns: string;
}

/** The tables of the target are those that the migrations have just made; another program's in the source are none of the store. */
function tablesOf(side: EntityManager): Promise<Table[]> {
  return side.query<Table[]>(TABLES);
}

async function copyTable(
  { name, columns }: Table,
  reading: EntityManager,
  writing: EntityManager,
  onRows: (more: number) => void,
): Promise<void> {
  const rows = (await clientOf(reading)).query(copyTo(`COPY (SELECT ${columns} FROM ${name}) TO STDOUT`));
  const table = (await clientOf(writing)).query(copyFrom(`COPY ${name} (${columns}) FROM STDIN`));
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      yield chunk;
      // In the text format of COPY every row ends with a line feed, and no value contains one.
      onRows(chunk.toString('latin1').split('\n').length - 1);
    }
  };
  await pipeline(rows, counted, table);
}

const SEQUENCES = `SELECT quote_ident(relname) AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'`;

/**
 * Copies the sequences that the target has. Sequences ignore transactions: they are read after the rows, so that their values
 * are past all copied ids.
 */
async function copySequences(reading: EntityManager, writing: EntityManager): Promise<void> {
  for (const { name } of await writing.query<{ name: string }[]>(SEQUENCES)) {
    const [state] = await reading.query<{ last: number; called: boolean }[]>(
      `SELECT last_value AS last, is_called AS called FROM ${name}`,
    );
    await writing.query(`SELECT setval($1::regclass, $2, $3)`, [name, state!.last, state!.called]);
  }
}

async function clientOf({ queryRunner }: EntityManager): Promise<Client> {
  return (await queryRunner!.connect()) as unknown as Client;
}
