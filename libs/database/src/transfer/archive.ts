// The format of an archive: a line of JSON (the header), the rows of each table, a line of JSON (the trailer). Rows are in the
// text format of COPY, one on each line, as many as the header says. Nothing in it is a path, a statement or a setting.
import { createHash } from 'node:crypto';

/** A change that an older program cannot read increases it. */
export const FORMAT = 1;

const MAX_JSON_BYTES = 256 * 1024;
const LINE_FEED = 10;

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
  /** Small texts of the application, by name. */
  attachments: Record<string, string>;
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
  /** SHA-256 of everything before the trailer, in hexadecimal. */
  sha256: string;
  sequences: SequenceState[];
}

/** The bytes are not an archive, or not all of one. The message has no full stop. */
export class DamagedArchiveError extends Error {}

/**
 * Counts rows: in the text format of COPY every row ends with a line feed, and no value contains one.
 * @returns the number of lines that end in the chunk, `max` at most, and where the last of these ends
 */
export function linesIn(chunk: Buffer, max = Infinity): { lines: number; end: number } {
  let lines = 0;
  let end = 0;
  for (let at = chunk.indexOf(LINE_FEED); at !== -1 && lines < max; at = chunk.indexOf(LINE_FEED, end)) {
    lines += 1;
    end = at + 1;
  }
  return { lines, end };
}

/** Reads an archive from its beginning to its end. */
export class ArchiveReader {
  private constructor(
    readonly header: ArchiveHeader,
    private readonly lines: LineReader,
  ) {}

  /** @throws DamagedArchiveError; errors of the source */
  static async open(source: AsyncIterable<Buffer>): Promise<ArchiveReader> {
    const lines = new LineReader(source);
    return new ArchiveReader(await readJson(lines, 'header', isHeader), lines);
  }

  /** The rows of a table. Call it for each table of the header, in order. */
  rowsOf({ rows }: ArchivedTable): AsyncIterable<Buffer> {
    return this.lines.take(rows);
  }

  /**
   * Reads the rest, after all tables.
   * @throws DamagedArchiveError also if anything differs from what was written
   */
  async end(): Promise<ArchiveTrailer> {
    const digest = this.lines.digest();
    const trailer = await readJson(this.lines, 'trailer', isTrailer);
    if (trailer.sha256 !== digest) {
      throw new DamagedArchiveError('it differs from what was written');
    }
    if (!(await this.lines.isAtEnd())) {
      throw new DamagedArchiveError('it has data after its end');
    }
    return trailer;
  }
}

/** Takes lines from a stream of chunks. */
class LineReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private readonly hash = createHash('sha256');
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  /** @throws DamagedArchiveError if the source ends before */
  async *take(lines: number): AsyncGenerator<Buffer> {
    for (let left = lines; left > 0; ) {
      if (await this.isAtEnd()) {
        throw new DamagedArchiveError('its end is missing');
      }
      const found = linesIn(this.rest, left);
      const chunk = found.lines === left ? this.rest.subarray(0, found.end) : this.rest;
      this.rest = this.rest.subarray(chunk.length);
      left -= found.lines;
      this.hash.update(chunk);
      yield chunk;
    }
  }

  /** The digest of what was taken so far. */
  digest(): string {
    return this.hash.copy().digest('hex');
  }

  async isAtEnd(): Promise<boolean> {
    while (this.rest.length === 0) {
      const result = await this.chunks.next();
      if (result.done) {
        return true;
      }
      this.rest = result.value;
    }
    return false;
  }
}

async function readJson<Content>(
  lines: LineReader,
  name: string,
  isContent: (value: unknown) => value is Content,
): Promise<Content> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of lines.take(1)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_JSON_BYTES) {
      throw new DamagedArchiveError(`its ${name} is longer than ${MAX_JSON_BYTES} bytes`);
    }
  }
  const value = parse(Buffer.concat(chunks).toString());
  if (!isContent(value)) {
    throw new DamagedArchiveError(`its ${name} cannot be read`);
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is ArchiveHeader {
  const header = (value ?? {}) as Partial<ArchiveHeader>;
  const { format, madeBy, startedAt, attachments, migrations, tables } = header;
  return (
    typeof format === 'number' &&
    typeof madeBy === 'string' &&
    // Shown to people: it must not control their terminal.
    /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(String(startedAt)) &&
    isTexts(Object.values(attachments ?? [null])) &&
    isTexts(migrations) &&
    Array.isArray(tables) &&
    tables.every(
      (table: Partial<ArchivedTable> | null) =>
        typeof table?.name === 'string' && Number.isSafeInteger(table.rows) && isTexts(table.columns),
    )
  );
}

function isTrailer(value: unknown): value is ArchiveTrailer {
  const { sha256, sequences } = (value ?? {}) as Partial<ArchiveTrailer>;
  return (
    typeof sha256 === 'string' &&
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
