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
  /** Aborting the signal ends the copy, which then fails with the signal's reason. */
  signal: AbortSignal;
  /** Tables that stay empty, because their rows would be wrong in a copy, such as a list of running instances. */
  leftOut?: readonly string[];
  onRows?: (done: number, total: number) => void;
}

/** The transactions of a copy: one reads the source, and one writes the target. */
interface Transactions {
  reading: EntityManager;
  writing: EntityManager;
}

/**
 * Copies a database into a database without tables, in one transaction: either all rows are copied or none. The source
 * may be in use meanwhile.
 * @param source a data source without the driver's `pipeline` option, because COPY does not work with that option
 * @param target a data source without the `pipeline` option, too
 * @throws Error if the source is not at the newest migration or the target has tables; UnsuitableDatabaseError if the
 * service cannot use the target; the driver's errors
 */
export function copyDatabase(
  source: DataSource,
  target: DataSource,
  { signal, leftOut = [], onRows = () => undefined }: CopyOptions,
): Promise<CopiedTable[]> {
  return source.transaction('REPEATABLE READ', (reading) =>
    target.transaction(async (writing) => {
      const connections = [await connectionOf(reading), await connectionOf(writing)];
      const end = () =>
        connections.forEach((connection) => {
          connection.end().catch(() => undefined);
        });
      signal.addEventListener('abort', end, { once: true });
      try {
        signal.throwIfAborted();
        return await copyAll({ reading, writing }, leftOut, onRows);
      } catch (error) {
        // Close both connections before the error ends the transactions. A ROLLBACK on an open connection could wait
        // forever, because it would have to wait for the remaining rows of a COPY, which nobody reads.
        end();
        throw signal.aborted ? signal.reason : error;
      } finally {
        signal.removeEventListener('abort', end);
      }
    }),
  );
}

async function copyAll(
  transactions: Transactions,
  leftOut: readonly string[],
  onRows: (done: number, total: number) => void,
): Promise<CopiedTable[]> {
  const { reading, writing } = transactions;
  await reading.query('SET TRANSACTION READ ONLY');
  for (const side of [reading, writing]) {
    await side.query(WITHOUT_TIMEOUTS);
    await side.query(FORMATS);
  }
  await createTables(transactions);
  // Copy the tables that the target has, which the migrations have just created. The source may also have tables of
  // other programs, which are not copied.
  const tables = (await tablesOf(writing)).filter(({ relname }) => !leftOut.includes(relname));
  const names = tables.map(({ name }) => name);
  const counted = names.map((name) => `(SELECT count(*)::float8 FROM ${name})`);
  const [{ counts }] = await reading.query<[{ counts: number[] }]>(
    `SELECT ARRAY[${counted.join()}] AS counts`,
  );
  // Disable the triggers of the target during the copy. The copied rows already show the effects that the triggers had
  // in the source, and these effects must not occur twice.
  await writing.query(names.map((name) => `ALTER TABLE ${name} DISABLE TRIGGER USER`).join(';'));
  await writing.query(`TRUNCATE ${names.join(', ')}`);
  const total = counts.reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of tables) {
    await copyTable(table, transactions, (more) => onRows((done += more), total));
  }
  await writing.query(names.map((name) => `ALTER TABLE ${name} ENABLE TRIGGER USER`).join(';'));
  await copySequences(transactions);
  // Collect statistics about the copied rows. Without them, PostgreSQL would plan queries as if the tables were nearly
  // empty.
  await writing.query('ANALYZE');
  return tables.map(({ relname }, at) => ({ table: relname, rows: counts[at]! }));
}

async function createTables({ reading, writing }: Transactions): Promise<void> {
  const [existing] = await tablesOf(writing);
  if (existing !== undefined) {
    throw new Error(`the target is not empty: it has the table ${existing.name}`);
  }
  await migrateWithin(writing);
  if (String(await doneMigrations(reading)) !== String(await doneMigrations(writing))) {
    throw new Error(
      'the store lacks migrations of this version of the service; run them first with db migrate',
    );
  }
}

/**
 * Sets the text formats of dates, numbers and bytes. COPY transfers values as text, so both servers need the same
 * formats.
 */
const FORMATS = `SELECT set_config('DateStyle', 'ISO, YMD', true), set_config('IntervalStyle', 'postgres', true),
  set_config('extra_float_digits', '3', true), set_config('bytea_output', 'hex', true)`;

/** Lists the tables in the order of their creation, so that parents come before their children. */
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

function tablesOf(side: EntityManager): Promise<Table[]> {
  return side.query<Table[]>(TABLES);
}

async function copyTable(
  { name, columns }: Table,
  { reading, writing }: Transactions,
  onRows: (more: number) => void,
): Promise<void> {
  const rows = (await connectionOf(reading)).query(copyTo(`COPY (SELECT ${columns} FROM ${name}) TO STDOUT`));
  const table = (await connectionOf(writing)).query(copyFrom(`COPY ${name} (${columns}) FROM STDIN`));
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      yield chunk;
      // Count the line feeds: in the text format of COPY, every row ends with a line feed, and no value contains a line
      // feed.
      onRows(chunk.toString('latin1').split('\n').length - 1);
    }
  };
  await pipeline(rows, counted, table);
}

/**
 * Lists the sequences that belong to columns. Other sequences of the target are left out, because they may belong to
 * other programs.
 */
const SEQUENCES = `SELECT quote_ident(relname) AS name
  FROM pg_class JOIN pg_depend ON objid = pg_class.oid AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i')
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'`;

/**
 * Copies the current values of the sequences. The sequences are copied after all rows, so that the next id of each
 * sequence is above all ids that were copied.
 */
async function copySequences({ reading, writing }: Transactions): Promise<void> {
  for (const { name } of await writing.query<{ name: string }[]>(SEQUENCES)) {
    const [state] = await reading.query<{ last: number; called: boolean }[]>(
      `SELECT last_value AS last, is_called AS called FROM ${name}`,
    );
    await writing.query(`SELECT setval($1::regclass, $2, $3)`, [name, state!.last, state!.called]);
  }
}

async function connectionOf({ queryRunner }: EntityManager): Promise<Client> {
  return (await queryRunner!.connect()) as unknown as Client;
}
