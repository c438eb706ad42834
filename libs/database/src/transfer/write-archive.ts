import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { DataSource, EntityManager } from 'typeorm';
import { longTransaction } from '../long-transaction';
import { doneMigrations } from '../migrations';
import {
  type ArchivedTable,
  type ArchiveHeader,
  FORMAT,
  HEADER,
  linesIn,
  PART_BYTES,
  partName,
  type SequenceState,
  TRAILER,
} from './archive';
import { catalogSequences, catalogTables, fixFormats } from './catalog';
import { TAR_END, tarEntry } from './tar';

export interface WriteArchiveOptions {
  /** The program and its version, for the header. */
  madeBy: string;
  /** Small texts of the application by name; `ArchiveReader.open` must know the names. */
  attachments?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Called with the rows read so far and the total. */
  onRows?: (done: number, total: number) => void;
}

/**
 * Reads a snapshot of a database as an archive, while others write. It is not compressed.
 * @param consume receives the archive; its result is returned
 * @throws Error if there are no tables; what the drivers or the consumer throw
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
      const header = await describe(reading, options.madeBy, startedAt);
      const archive = entriesOf(reading, header, options);
      try {
        return await consume(archive, header);
      } finally {
        // Where the consumer failed and left rows unread, the rollback would wait behind them forever.
        await archive.return(undefined);
      }
    },
    { ofSnapshot: true, signal: options.signal },
  );
}

async function describe(reading: EntityManager, madeBy: string, startedAt: string): Promise<ArchiveHeader> {
  const migrations = await doneMigrations(reading);
  if (migrations.length === 0) {
    throw new Error('the database has no tables to back up');
  }
  const tables: ArchivedTable[] = [];
  for (const table of await catalogTables(reading)) {
    const [row] = await reading.query<{ rows: string }[]>(`SELECT count(*) AS rows FROM ${table.name}`);
    tables.push({ ...table, rows: Number(row!.rows) });
  }
  const [server] = await reading.query<{ version: string }[]>(
    `SELECT current_setting('server_version') AS version`,
  );
  const postgres = server!.version.split(' ')[0]!;
  return { format: FORMAT, madeBy, startedAt, postgres, migrations, tables };
}

async function* entriesOf(
  reading: EntityManager,
  header: ArchiveHeader,
  { attachments = {}, onRows = () => undefined }: WriteArchiveOptions,
): AsyncGenerator<Buffer> {
  yield* jsonEntry(HEADER, header);
  for (const [name, text] of Object.entries(attachments)) yield* tarEntry(name, Buffer.from(text));
  const total = header.tables.reduce((sum, { rows }) => sum + rows, 0);
  const digests: Record<string, string> = {};
  let done = 0;
  for (const table of header.tables) {
    const digest = createHash('sha256');
    let part = 0;
    for await (const chunk of inParts(rowsOf(reading, table))) {
      digest.update(chunk);
      yield* tarEntry(partName(table.name, (part += 1)), chunk);
      onRows((done += linesIn(chunk)), total);
    }
    digests[table.name] = digest.digest('hex');
  }
  yield* jsonEntry(TRAILER, { digests, sequences: await sequencesOf(reading) });
  yield TAR_END;
}

function jsonEntry(name: string, content: unknown): Iterable<Buffer> {
  return tarEntry(name, Buffer.from(JSON.stringify(content)));
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

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= PART_BYTES) {
      yield Buffer.concat(waiting);
      waiting = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Sequences ignore transactions. Read after the rows, they are past all ids. */
async function sequencesOf(reading: EntityManager): Promise<SequenceState[]> {
  const sequences: SequenceState[] = [];
  for (const name of await catalogSequences(reading)) {
    const [state] = await reading.query<Omit<SequenceState, 'name'>[]>(
      `SELECT last_value AS "lastValue", is_called AS "isCalled" FROM ${name}`,
    );
    sequences.push({ name, ...state! });
  }
  return sequences;
}
