// The format of an archive: a tar file of, in this order, a header, small texts of the application, the rows of each table
// in parts, and a trailer. Rows are in the text format of COPY. Nothing in it is a path, a statement or a setting.
import { createHash } from 'node:crypto';
import { DamagedArchiveError, readTar, type TarEntry } from './tar';

/** A change that an older program cannot read increases it. */
export const FORMAT = 1;
export const HEADER = 'header.json';
export const TRAILER = 'trailer.json';
/** The size of a part, which is kept in memory while it is written. */
export const PART_BYTES = 1024 * 1024;

const MAX_JSON_BYTES = 256 * 1024;
const MAX_ATTACHMENT_BYTES = 4 * 1024;
const NEW_LINE = 10;

export interface ArchivedTable {
  /** As `CatalogTable`. */
  name: string;
  columns: string[];
  rows: number;
}

export interface ArchiveHeader {
  format: number;
  /** The program that made it. */
  madeBy: string;
  /** RFC 3339. The archive contains everything committed before. */
  startedAt: string;
  /** The version of PostgreSQL, for information. */
  postgres: string;
  /** The migrations that had run, which are the version of the schema. */
  migrations: string[];
  /** Parents before the children that refer to them. */
  tables: ArchivedTable[];
}

export interface SequenceState {
  name: string;
  lastValue: string;
  isCalled: boolean;
}

export interface ArchiveTrailer {
  /** SHA-256 of the rows of each table. */
  digests: Record<string, string>;
  sequences: SequenceState[];
}

export function partName(table: string, part: number): string {
  return `${table}/${String(part).padStart(6, '0')}`;
}

/** In the text format of COPY every row ends with a line feed, and no value contains one. */
export function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) {
    lines += 1;
  }
  return lines;
}

/** Reads an archive from its beginning to its end. Every entry must be the one that the format has next. */
export class ArchiveReader {
  readonly attachments: Record<string, string> = {};
  private readonly digests: Record<string, string> = {};
  /** What an entry may be called, or begins with. */
  private readonly names: readonly string[];
  private readonly folders: readonly string[];
  private next: TarEntry | undefined;

  private constructor(
    readonly header: ArchiveHeader,
    private readonly entries: AsyncGenerator<TarEntry, void>,
    attachments: readonly string[],
  ) {
    this.names = [...attachments, TRAILER];
    this.folders = header.tables.map(({ name }) => `${name}/`);
  }

  /**
   * @param known the names of attachments that may be there
   * @throws DamagedArchiveError; errors of the source
   */
  static async open(source: AsyncIterable<Buffer>, known: readonly string[] = []): Promise<ArchiveReader> {
    const entries = readTar(source);
    const header = await readJson(await nextOf(entries), HEADER, isHeader);
    const reader = new ArchiveReader(header, entries, known);
    await reader.advance();
    for (const name of known.filter((name) => reader.next?.name === name)) {
      reader.attachments[name] = (await readBounded(reader.next!, MAX_ATTACHMENT_BYTES)).toString();
      await reader.advance();
    }
    return reader;
  }

  /** The rows of a table. Call it for each table of the header, in order. */
  async *rowsOf(table: string): AsyncGenerator<Buffer> {
    const digest = createHash('sha256');
    for (let part = 1; this.next?.name === partName(table, part); part += 1) {
      for await (const chunk of this.next.content) {
        digest.update(chunk);
        yield chunk;
      }
      await this.advance();
    }
    this.digests[table] = digest.digest('hex');
  }

  /**
   * Reads the rest, after all tables.
   * @throws DamagedArchiveError also if a table differs from its digest
   */
  async end(): Promise<ArchiveTrailer> {
    const trailer = await readJson(this.next, TRAILER, isTrailer);
    await this.advance();
    if (this.next !== undefined) {
      throw unexpected(this.next);
    }
    const changed = Object.keys(this.digests).find((table) => this.digests[table] !== trailer.digests[table]);
    if (changed !== undefined) {
      throw new DamagedArchiveError(`the rows of ${changed} differ from what was written`);
    }
    return trailer;
  }

  private async advance(): Promise<void> {
    this.next = await nextOf(this.entries);
    const name = this.next?.name;
    const isKnown =
      name === undefined ||
      this.names.includes(name) ||
      this.folders.some((folder) => name.startsWith(folder));
    if (!isKnown) {
      throw unexpected(this.next!);
    }
  }
}

async function nextOf(entries: AsyncGenerator<TarEntry, void>): Promise<TarEntry | undefined> {
  const result = await entries.next();
  return result.done ? undefined : result.value;
}

async function readJson<Content>(
  entry: TarEntry | undefined,
  name: string,
  isContent: (value: unknown) => value is Content,
): Promise<Content> {
  if (entry?.name !== name) {
    throw entry === undefined ? new DamagedArchiveError(`${name} is missing`) : unexpected(entry);
  }
  const value = parse((await readBounded(entry, MAX_JSON_BYTES)).toString());
  if (!isContent(value)) {
    throw new DamagedArchiveError(`${name} cannot be read`);
  }
  return value;
}

async function readBounded({ name, bytes, content }: TarEntry, max: number): Promise<Buffer> {
  if (bytes > max) {
    throw new DamagedArchiveError(`${name} has ${bytes} bytes, and ${max} are allowed`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function unexpected({ name }: TarEntry): DamagedArchiveError {
  return new DamagedArchiveError(`${JSON.stringify(name)} does not belong there`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is ArchiveHeader {
  const { format, madeBy, startedAt, migrations, tables } = (value ?? {}) as Partial<ArchiveHeader>;
  return (
    typeof format === 'number' &&
    typeof madeBy === 'string' &&
    // Shown to people: it must not control their terminal.
    /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(String(startedAt)) &&
    isTexts(migrations) &&
    Array.isArray(tables) &&
    tables.every(
      (table: Partial<ArchivedTable> | null) =>
        typeof table?.name === 'string' && Number.isSafeInteger(table.rows) && isTexts(table.columns),
    )
  );
}

function isTrailer(value: unknown): value is ArchiveTrailer {
  const { digests, sequences } = (value ?? {}) as Partial<Record<keyof ArchiveTrailer, unknown>>;
  return (
    typeof digests === 'object' &&
    digests !== null &&
    Array.isArray(sequences) &&
    sequences.every(
      (sequence: Partial<SequenceState> | null) =>
        typeof sequence?.name === 'string' &&
        /^\d{1,19}$/.test(String(sequence.lastValue)) &&
        typeof sequence.isCalled === 'boolean',
    )
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
