import { type Transaction, columnNames, copyInto, copyRow } from '#libs/database';
import { CATEGORY_COLUMNS } from '../categories';
import {
  CATEGORY_LINE_COLUMNS,
  type CategoryRecord,
  PET_LINE_COLUMNS,
  type PetRecord,
  categoryRow,
  petRow,
} from './catalogue-line';

/** Rows are sent in batches of this size, to save both round trips and memory. */
const BATCH_CHARACTERS = 256 * 1024;

const CATEGORIES = 'staged_categories';
const PETS = 'staged_pets';
const TABLES = [
  `CREATE TEMPORARY TABLE ${CATEGORIES} (${CATEGORY_LINE_COLUMNS}) ON COMMIT DROP`,
  `CREATE TEMPORARY TABLE ${PETS} (${PET_LINE_COLUMNS}) ON COMMIT DROP`,
];
const DUPLICATES = `SELECT line, file_id AS id, first_line FROM
  (SELECT line, file_id, min(line) OVER (PARTITION BY file_id) AS first_line FROM staged_categories) AS compared
  WHERE line <> first_line`;

interface BadLine {
  line: number;
  problem: string;
}

/** The invalid lines of an import file: the first ones in full, and the total number. */
export class BadLines {
  private total = 0;
  private known: BadLine[] = [];

  /** @param most how many are reported in full */
  constructor(readonly most: number) {}

  get count(): number {
    return this.total;
  }

  /** In the order of the file. */
  get first(): readonly BadLine[] {
    return this.known;
  }

  /**
   * @param found at least the first `most` of the lines
   * @param count their total number
   */
  add(found: readonly BadLine[], count = found.length): void {
    this.total += count;
    if (count > 0 && this.mayShow(found[0]!)) {
      this.known = [...this.known, ...found].sort((a, b) => a.line - b.line).slice(0, this.most);
    }
  }

  private mayShow({ line }: BadLine): boolean {
    return this.known.length < this.most || line < this.known.at(-1)!.line;
  }
}

interface Found {
  line: string;
  id: string;
  first_line?: string;
  total: string;
}

/** Holds the lines of a file in temporary tables until all are read, because a pet may precede its category. */
export class CatalogueStage {
  /** The categories of the file, in its order. */
  readonly categories = `SELECT file_id, ${columnNames(CATEGORY_COLUMNS)} FROM staged_categories ORDER BY line`;

  /** The category ids that the pets of the file use. */
  readonly categoryIds = `SELECT file_category_id FROM staged_pets`;

  private readonly batches = new Map<string, { rows: string[]; characters: number }>();

  private constructor(private readonly transaction: Transaction) {}

  static async open(transaction: Transaction): Promise<CatalogueStage> {
    for (const table of TABLES) {
      await transaction.query(table);
    }
    return new CatalogueStage(transaction);
  }

  /**
   * A query for the pets of the file, in its order.
   * @param known a query that maps `file_id`, the category id in the file, to the category's `id`; other pets are left out
   */
  petsIn(known: string): string {
    return `SELECT staged_pets.*, known.id AS category_id
      FROM staged_pets JOIN (${known}) AS known ON known.file_id = file_category_id ORDER BY line`;
  }

  /** A name that a query finds, as an example. */
  async firstName(query: string): Promise<string> {
    const [row] = await this.transaction.query<{ name: string }[]>(`${query} LIMIT 1`);
    return row!.name;
  }

  async add(line: number, record: CategoryRecord | PetRecord): Promise<void> {
    if (record.kind === 'category') {
      await this.addRow(CATEGORIES, categoryRow(line, record));
    } else {
      await this.addRow(PETS, petRow(line, record));
    }
  }

  /** To be called after the last line. */
  async complete(): Promise<void> {
    for (const target of this.batches.keys()) {
      await this.send(target);
    }
    await this.transaction.query(`ANALYZE staged_categories, staged_pets`);
  }

  /** Rejects categories whose id an earlier line already has. */
  async refuseDuplicates(badLines: BadLines): Promise<void> {
    await this.refuse(
      badLines,
      DUPLICATES,
      ({ id, first_line }) => `id ${id} is already the id of the category on line ${first_line}.`,
    );
    await this.transaction.query(
      `DELETE FROM staged_categories USING (${DUPLICATES}) AS duplicates
       WHERE staged_categories.line = duplicates.line`,
    );
  }

  /**
   * Reports the pets that `petsIn` leaves out.
   * @param owner where the known categories are, for the message
   */
  async refuseUnknownCategories(badLines: BadLines, known: string, owner: string): Promise<void> {
    await this.refuse(
      badLines,
      `SELECT line, file_category_id AS id FROM staged_pets
       WHERE NOT EXISTS (SELECT FROM (${known}) AS known WHERE known.file_id = file_category_id)`,
      ({ id }) => `categoryId ${id} is not the id of a category of ${owner}.`,
    );
  }

  private async addRow(target: string, values: (string | number | null)[]): Promise<void> {
    const batch = this.batches.get(target) ?? { rows: [], characters: 0 };
    this.batches.set(target, batch);
    const row = copyRow(values);
    batch.rows.push(row);
    batch.characters += row.length;
    if (batch.characters >= BATCH_CHARACTERS) {
      await this.send(target);
    }
  }

  private async send(target: string): Promise<void> {
    const { rows } = this.batches.get(target)!;
    this.batches.delete(target);
    await copyInto(this.transaction, target, rows.join(''));
  }

  private async refuse(badLines: BadLines, query: string, problem: (row: Found) => string): Promise<void> {
    const rows = await this.transaction.query<Found[]>(
      `SELECT *, count(*) OVER () AS total FROM (${query}) AS found ORDER BY line LIMIT $1`,
      [badLines.most],
    );
    const found = rows.map((row) => ({ line: Number(row.line), problem: problem(row) }));
    badLines.add(found, Number(rows[0]?.total ?? 0));
  }
}
