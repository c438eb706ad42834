import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { DataSource, EntityManager } from 'typeorm';
import { longTransaction } from '../long-transaction';
import { doneMigrations } from '../migrations';
import {
  type ArchivedTable,
  type ArchiveHeader,
  type ArchiveTrailer,
  FORMAT,
  linesIn,
  type SequenceState,
} from './archive';
import { catalogSequences, catalogTables, fixFormats } from './catalog';

export interface WriteArchiveOptions {
  /** The program and its version, for the header. */
  madeBy: string;
  /** Small texts of the application, by name. */
  attachments?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Called with the rows read so far and the total. */
  onRows?: (done: number, total: number) => void;
}

/** The database has no tables of the application. */
export class NothingToArchiveError extends Error {}

/**
 * Reads a snapshot of a database as an archive, while others write. It is not compressed.
 * @param consume receives the archive; its result is returned
 * @throws NothingToArchiveError; what the drivers or the consumer throw
 */
export function writeArchive<Result>(
  source: DataSource,
  options: WriteArchiveOptions,
  consume: (archive: AsyncIterable<Buffer>, header: ArchiveHeader) => Promise<Result>,
): Promise<Result> {
  const startedAt = new Date().toISOString();
  return longTransaction(
    source,
    async (reading) => {
      await fixFormats(reading);
      const header = await describe(reading, options, startedAt);
      const archive = archiveOf(reading, header, options.onRows);
      try {
        return await consume(archive, header);
      } finally {
        // Where the consumer failed and left rows unread, the rollback would wait behind them forever.
        await archive.return(undefined);
      }
    },
    { isolation: 'REPEATABLE READ', readOnly: true, signal: options.signal },
  );
}

async function describe(
  reading: EntityManager,
  { madeBy, attachments = {} }: WriteArchiveOptions,
  startedAt: string,
): Promise<ArchiveHeader> {
  const migrations = await doneMigrations(reading);
  if (migrations.length === 0) {
    throw new NothingToArchiveError();
  }
  const tables: ArchivedTable[] = [];
  for (const table of await catalogTables(reading, reading.dataSource.options.migrationsTableName)) {
    const [row] = await reading.query<{ rows: string }[]>(`SELECT count(*) AS rows FROM ${table.name}`);
    tables.push({ ...table, rows: Number(row!.rows) });
  }
  const [server] = await reading.query<{ version: string }[]>(
    `SELECT current_setting('server_version') AS version`,
  );
  const postgres = server!.version.split(' ')[0]!;
  return { format: FORMAT, madeBy, startedAt, postgres, attachments, migrations, tables };
}

async function* archiveOf(
  reading: EntityManager,
  header: ArchiveHeader,
  onRows: WriteArchiveOptions['onRows'],
): AsyncGenerator<Buffer> {
  const total = header.tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  const hash = createHash('sha256');
  const first = lineOf(header);
  hash.update(first);
  yield first;
  for (const table of header.tables) {
    for await (const chunk of rowsOf(reading, table)) {
      hash.update(chunk);
      yield chunk;
      onRows?.((done += linesIn(chunk).lines), total);
    }
  }
  const trailer: ArchiveTrailer = { sha256: hash.digest('hex'), sequences: await sequencesOf(reading) };
  yield lineOf(trailer);
}

function lineOf(content: object): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`);
}

async function* rowsOf(
  reading: EntityManager,
  { name, columns }: ArchivedTable,
): AsyncGenerator<Buffer, void> {
  const client = (await reading.queryRunner!.connect()) as unknown as Client;
  let isComplete = false;
  try {
    yield* client.query(copyTo(`COPY (SELECT ${columns.join(', ')} FROM ${name}) TO STDOUT`));
    isComplete = true;
  } finally {
    // The remaining rows are never read, so later statements on this connection would wait forever.
    if (!isComplete) await client.end();
  }
}

/** Sequences ignore transactions. Read after the rows, they are past all ids. */
async function sequencesOf(reading: EntityManager): Promise<SequenceState[]> {
  const sequences: SequenceState[] = [];
  for (const name of await catalogSequences(reading, reading.dataSource.options.migrationsTableName)) {
    const [state] = await reading.query<Omit<SequenceState, 'name'>[]>(
      `SELECT last_value AS "lastValue", is_called AS "isCalled" FROM ${name}`,
    );
    sequences.push({ name, ...state! });
  }
  return sequences;
}
