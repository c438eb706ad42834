import type { DataSource, EntityManager } from 'typeorm';
import { copyInto } from '../bulk';
import { longTransaction } from '../long-transaction';
import { assertSuitable, doneMigrations, lockMigrations, migrateWithin } from '../migrations';
import { type ArchiveHeader, type ArchiveReader, FORMAT, linesIn, type SequenceState } from './archive';
import { catalogSequences, catalogTables, fixFormats } from './catalog';
import { DamagedArchiveError } from './tar';

export interface LoadArchiveOptions {
  /** Replaces the rows that are there. By default there must be no tables. */
  replace?: boolean;
  /** Called before anything is changed; throws if the target must not be. */
  assertUnused?: (transaction: EntityManager) => Promise<void>;
  /** Called last: everything is loaded and verified. */
  beforeCommit?: () => Promise<void>;
  signal?: AbortSignal | undefined;
  /** Called with the rows loaded so far and the total. */
  onRows?: (done: number, total: number) => void;
}

/** The archive is intact, but cannot be loaded here. The message has no full stop. */
export class UnsuitableArchiveError extends Error {}

/** Fails with one line if an archive was made by a newer program. */
export function assertReadable(
  { format, madeBy, migrations }: ArchiveHeader,
  known: readonly string[],
): void {
  if (format !== FORMAT || migrations.length === 0 || migrations.some((name, at) => name !== known[at])) {
    throw new UnsuitableArchiveError(`the backup was made by another version (${madeBy}); use that one`);
  }
}

/**
 * Loads an archive into a database, all or nothing, and brings it to the newest migration. An archive of an older schema
 * needs a database without tables.
 * @throws DamagedArchiveError, UnsuitableArchiveError, UnsuitableDatabaseError; what the source, the driver or the hooks
 * throw. Nothing has changed then, unless the connection broke during the commit
 */
export async function loadArchive(
  target: DataSource,
  archive: ArchiveReader,
  { replace = false, assertUnused, beforeCommit, signal, onRows = () => undefined }: LoadArchiveOptions = {},
): Promise<void> {
  const { header } = archive;
  await longTransaction(
    target,
    async (writing) => {
      await fixFormats(writing);
      // A service that starts now waits for the end.
      await lockMigrations(writing);
      await assertSuitable(writing);
      await assertUnused?.(writing);
      await prepareTables(writing, header, replace);
      await loadTables(writing, archive, onRows);
      const { sequences } = await archive.end();
      await setSequences(writing, sequences);
      await migrateWithin(writing);
      // Without statistics PostgreSQL would plan for nearly empty tables.
      await writing.query('ANALYZE');
      await beforeCommit?.();
    },
    { signal },
  );
}

async function prepareTables(
  writing: EntityManager,
  { migrations, tables }: ArchiveHeader,
  replace: boolean,
): Promise<void> {
  const [existing] = await catalogTables(writing);
  if (existing === undefined) {
    await migrateWithin(writing, migrations.at(-1));
  } else if (!replace) {
    throw new UnsuitableArchiveError(`the target is not empty: it has the table ${existing.name}`);
  } else if (String(await doneMigrations(writing)) !== String(migrations)) {
    throw new UnsuitableArchiveError(
      'the backup has the schema of another version than the database that is there; restore it into an empty one',
    );
  }
  const found = await catalogTables(writing);
  const shapeOf = ({ name, columns }: { name: string; columns: string[] }) =>
    JSON.stringify([name, columns.toSorted()]);
  if (String(found.map(shapeOf).sort()) !== String(tables.map(shapeOf).sort())) {
    throw new DamagedArchiveError('its tables are not those of its schema');
  }
}

async function loadTables(
  writing: EntityManager,
  archive: ArchiveReader,
  onRows: (done: number, total: number) => void,
): Promise<void> {
  const { tables } = archive.header;
  const names = tables.map(({ name }) => name);
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const name of names) {
    // Triggers have already run in the source.
    await writing.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  }
  await writing.query(`TRUNCATE ${names.join(', ')}`);
  const counted = async function* (rows: AsyncIterable<Buffer>) {
    for await (const chunk of rows) {
      yield chunk;
      onRows((done += linesIn(chunk)), total);
    }
  };
  for (const table of tables) {
    const target = `${table.name} (${table.columns.join(', ')})`;
    const rows = await copyInto(writing, target, counted(archive.rowsOf(table.name)));
    if (rows !== table.rows) {
      throw new DamagedArchiveError(`it has ${rows} rows of ${table.name} instead of ${table.rows}`);
    }
  }
  for (const name of names) {
    await writing.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  }
}

async function setSequences(writing: EntityManager, states: SequenceState[]): Promise<void> {
  const names = await catalogSequences(writing);
  if (String(names) !== String(states.map(({ name }) => name))) {
    throw new DamagedArchiveError('its sequences are not those of its schema');
  }
  for (const { name, lastValue, isCalled } of states) {
    await writing.query(`SELECT setval($1::regclass, $2, $3)`, [name, lastValue, isCalled]);
  }
}
