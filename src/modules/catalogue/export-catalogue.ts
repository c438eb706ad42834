import { Injectable } from '@nestjs/common';
import { Database, type Transaction, countRows } from '#libs/database';
import { CategoryCatalog } from '../categories';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { CATEGORY_FIELDS, PET_FIELDS } from './catalogue-line';

export interface ExportOptions {
  signal?: AbortSignal;
  /** Called with the number of lines written so far and the total. */
  onLines?: (lines: number, all: number) => void;
}

export interface CatalogueSize {
  categories: number;
  pets: number;
}

/** Lines per batch. */
const BATCH_LINES = 1_000;

/** The database writes the JSON, which is several times faster. Null values are left out. */
const asLines = (query: string): string =>
  `SELECT json_strip_nulls(row_to_json(line))::text AS line FROM (${query} ORDER BY id) AS line`;
const CATEGORY_LINES = asLines(
  `SELECT 'category' AS kind, ${CATEGORY_FIELDS} FROM (${CategoryCatalog.all}) AS categories`,
);
const PET_LINES = asLines(
  `SELECT 'pet' AS kind, ${PET_FIELDS}
   FROM (${PetCatalog.all}) AS pets JOIN (${StockReservations.all}) AS stock ON pet_id = id`,
);

/** Exports a snapshot of all categories and pets as NDJSON, sorted by id, in the format of the import. */
@Injectable()
export class ExportCatalogue {
  constructor(private readonly database: Database) {}

  /** @param write awaited before the next batch is read, so that only one batch is in memory */
  run(write: (text: string) => Promise<void>, options: ExportOptions = {}): Promise<CatalogueSize> {
    const moment = { ofSnapshot: true, signal: options.signal };
    return this.database.longTransaction(async (transaction) => {
      const size = {
        categories: await countRows(transaction, CategoryCatalog.all),
        pets: await countRows(transaction, PetCatalog.all),
      };
      let written = 0;
      for (const query of [CATEGORY_LINES, PET_LINES]) {
        for await (const lines of batches(transaction, query)) {
          options.signal?.throwIfAborted();
          await write(lines.map((line) => `${line}\n`).join(''));
          written += lines.length;
          options.onLines?.(written, size.categories + size.pets);
        }
      }
      return size;
    }, moment);
  }
}

/** A cursor of SQL, because TypeORM reads all rows at once, or needs one more package. */
async function* batches(transaction: Transaction, query: string): AsyncGenerator<string[]> {
  await transaction.query(`DECLARE lines NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await transaction.query<{ line: string }[]>(`FETCH ${BATCH_LINES} FROM lines`);
    if (rows.length === 0) {
      break;
    }
    yield rows.map(({ line }) => line);
  }
  await transaction.query(`CLOSE lines`);
}
