import { copyInto, copyRow, type Transaction } from '#libs/database';
import { CATEGORY_LINE_FIELDS, PET_LINE_FIELDS, readCatalogueLine } from './catalogue-line';
import { readLines } from './read-lines';

const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;

/** `id` is what the file calls a category, of which a pet has one. */
const CREATE = `CREATE TEMPORARY TABLE staged (line bigint, kind text, id bigint, record json) ON COMMIT DROP`;
const DUPLICATES = `SELECT line, id, first_line FROM
  (SELECT line, id, min(line) OVER (PARTITION BY id) AS first_line FROM staged WHERE kind = 'category') AS compared
  WHERE line <> first_line`;

interface BadLine {
  line: number;
  problem: string;
}

/** The invalid lines of a file: the first ones in its order, and the total number. */
export class BadLines {
  count = 0;
  first: readonly BadLine[] = [];

  /**
   * @param found at least the first `MAX_REPORTED` of the lines
   * @param count their total number
   */
  add(found: readonly BadLine[], count = found.length): void {
    this.count += count;
    this.first = [...this.first, ...found].sort((a, b) => a.line - b.line).slice(0, MAX_REPORTED);
  }
}

interface Found {
  line: string;
  id: string;
  first_line?: string;
  total: string;
}

export interface FillOptions {
  /** The file may not hold categories. */
  petsOnly?: boolean | undefined;
  /** Called from time to time with the number of lines read so far. */
  onLines?: ((lines: number) => void) | undefined;
}

/**
 * Holds the lines of a file in a temporary table until all are read, because a pet may precede its category. In SQL, because a
 * temporary table has no entity.
 */
export class CatalogueStage {
  readonly badLines = new BadLines();

  /** The categories of the file, in its order. */
  readonly categories = `SELECT id AS file_id, fields.*
    FROM staged CROSS JOIN json_to_record(record) AS fields (${CATEGORY_LINE_FIELDS}) WHERE kind = 'category' ORDER BY line`;

  /** The category ids that the pets of the file use. */
  readonly categoryIds = `SELECT id FROM staged WHERE kind = 'pet'`;

  constructor(private readonly transaction: Transaction) {}

  /** Reads a file: takes the valid lines, and reports the others. */
  async fill(source: AsyncIterable<Buffer>, options: FillOptions): Promise<void> {
    await this.transaction.query(CREATE);
    await copyInto(this.transaction, 'staged', this.rowsOf(source, options));
    await this.transaction.query('ANALYZE staged');
  }

  /**
   * A query for the pets of the file, in its order.
   * @param known a query that maps `file_id`, the category id in the file, to the category's `id`; other pets are left out
   */
  petsIn(known: string): string {
    return `SELECT fields.*, known.id AS category_id FROM staged JOIN (${known}) AS known ON known.file_id = staged.id
      CROSS JOIN json_to_record(record) AS fields (${PET_LINE_FIELDS}) WHERE kind = 'pet' ORDER BY line`;
  }

  /** Rejects categories whose id an earlier line already has. */
  async refuseDuplicates(): Promise<void> {
    await this.refuse(
      DUPLICATES,
      ({ id, first_line }) => `id ${id} is already the id of the category on line ${first_line}.`,
    );
    await this.transaction.query(
      `DELETE FROM staged WHERE line IN (SELECT line FROM (${DUPLICATES}) AS found)`,
    );
  }

  /**
   * Reports the pets that `petsIn` leaves out.
   * @param owner where the known categories are, for the message
   */
  async refuseUnknownCategories(known: string, owner: string): Promise<void> {
    await this.refuse(
      `SELECT line, id FROM staged
       WHERE kind = 'pet' AND NOT EXISTS (SELECT FROM (${known}) AS known WHERE known.file_id = staged.id)`,
      ({ id }) => `categoryId ${id} is not the id of a category of ${owner}.`,
    );
  }

  private async *rowsOf(
    source: AsyncIterable<Buffer>,
    { petsOnly, onLines }: FillOptions,
  ): AsyncGenerator<string> {
    for await (const lines of readLines(source, MAX_LINE_BYTES)) {
      const rows: string[] = [];
      for (const line of lines) {
        const read = 'text' in line ? readCatalogueLine(line.text, petsOnly) : line;
        if ('problem' in read) {
          this.badLines.add([{ line: line.number, problem: read.problem }]);
        } else {
          const { record } = read;
          const id = record.kind === 'category' ? record.id : record.categoryId;
          rows.push(copyRow([line.number, record.kind, id, JSON.stringify(record)]));
        }
      }
      yield rows.join('');
      if (lines.length > 0) {
        onLines?.(lines.at(-1)!.number);
      }
    }
  }

  private async refuse(query: string, problem: (row: Found) => string): Promise<void> {
    const rows = await this.transaction.query<Found[]>(
      `SELECT *, count(*) OVER () AS total FROM (${query}) AS found ORDER BY line LIMIT ${MAX_REPORTED}`,
    );
    const found = rows.map((row) => ({ line: Number(row.line), problem: problem(row) }));
    this.badLines.add(found, Number(rows[0]?.total ?? 0));
  }
}
