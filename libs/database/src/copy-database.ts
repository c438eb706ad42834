import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { DataSource, EntityManager } from 'typeorm';
import { longTransaction } from './long-transaction';
import { migrateWithin } from './migrations';
import { type CatalogTable, catalogSequences, catalogTables } from './table-catalog';

export interface CopyOptions {
  signal?: AbortSignal;
  /** Called with the rows copied so far and the total. */
  onRows?: (done: number, total: number) => void;
}

export interface CopiedTable extends Record<string, unknown> {
  table: string;
  rows: number;
}

/** The target does not have as many rows as the source. */
export class CopyMismatchError extends Error {}

const NEW_LINE = 10;

/**
 * Copies a snapshot of one database to an empty one: creates the tables with the migrations, copies their rows, sets
 * the sequences and compares the counts, in one transaction on the target.
 * @param source at the newest migration
 * @throws CopyMismatchError, or what the drivers throw; the target stays empty then
 */
export function copyDatabase(
  source: DataSource,
  target: DataSource,
  { signal, onRows = () => undefined }: CopyOptions = {},
): Promise<CopiedTable[]> {
  const snapshot = { isolation: 'REPEATABLE READ', readOnly: true, signal } as const;
  return longTransaction(
    source,
    (reading) => longTransaction(target, (writing) => copyAll(reading, writing, onRows), { signal }),
    snapshot,
  );
}

async function copyAll(
  source: EntityManager,
  target: EntityManager,
  onRows: (done: number, total: number) => void,
): Promise<CopiedTable[]> {
  await migrateWithin(target);
  const tables = await catalogTables(target, target.dataSource.options.migrationsTableName);
  const names = tables.map(({ name }) => name);
  for (const name of names) {
    // Triggers have already run in the source.
    await target.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  }
  // Migrations may have inserted rows, but all rows come from the source.
  await target.query(`TRUNCATE ${names.join(', ')}`);
  const counts = await countRows(source, names);
  const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0);
  let done = 0;
  for (const table of tables) {
    await copyTable(source, target, table, (rows) => onRows((done += rows), total));
  }
  for (const name of names) {
    await target.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  }
  await setSequences(source, target);
  return compare(counts, await countRows(target, names));
}

async function copyTable(
  source: EntityManager,
  target: EntityManager,
  { name, columns }: CatalogTable,
  onRows: (rows: number) => void,
): Promise<void> {
  const list = columns.join(', ');
  const [reader, writer] = (await Promise.all(
    [source, target].map((side) => side.queryRunner!.connect()),
  )) as [Client, Client];
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onRows(linesIn(chunk));
      done(null, chunk);
    },
  });
  try {
    await pipeline(
      reader.query(copyTo(`COPY (SELECT ${list} FROM ${name}) TO STDOUT`)),
      counted,
      writer.query(copyFrom(`COPY ${name} (${list}) FROM STDIN`)),
    );
  } catch (error) {
    // The remaining rows are never read, so later statements on this connection would wait forever.
    await reader.end();
    throw error;
  }
}

/** In the text format of COPY every row ends with a line feed, and no value contains one. */
function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) {
    lines += 1;
  }
  return lines;
}

async function countRows(side: EntityManager, names: string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const [row] = await side.query<{ rows: string }[]>(`SELECT count(*) AS rows FROM ${name}`);
    counts.set(name, Number(row!.rows));
  }
  return counts;
}

/** Sequences ignore transactions. Reading them after the rows yields values past all ids. */
async function setSequences(source: EntityManager, target: EntityManager): Promise<void> {
  for (const name of await catalogSequences(target)) {
    const [state] = await source.query<{ last_value: string; is_called: boolean }[]>(
      `SELECT last_value, is_called FROM ${name}`,
    );
    await target.query(`SELECT setval($1::regclass, $2, $3)`, [name, state!.last_value, state!.is_called]);
  }
}

function compare(expected: Map<string, number>, found: Map<string, number>): CopiedTable[] {
  return [...expected].map(([table, rows]) => {
    if (found.get(table) !== rows) {
      throw new CopyMismatchError(`${table} has ${rows} rows, but ${found.get(table)} of them were copied.`);
    }
    return { table, rows };
  });
}
