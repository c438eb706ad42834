import { Injectable } from '@nestjs/common';
import { Database, type Transaction, countRows } from '#libs/database';
import { readLines } from './read-lines';
import { AuditTrail } from '../audit';
import { CategoryCatalog } from '../categories';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { readCatalogueLine } from './catalogue-line';
import { BadLines, CatalogueStage } from './catalogue-stage';

export interface ImportOptions {
  /** Adds the pets to existing categories; the file contains only pets. */
  intoExisting?: boolean;
  /** Allows names that the store already has. */
  mayRepeat?: boolean;
  /** Checks everything and imports nothing. */
  dryRun?: boolean;
  /** Skips invalid lines. Without it, one invalid line aborts the import. */
  skipInvalid?: boolean;
  signal?: AbortSignal;
  /** Called from time to time with the number of lines read so far. */
  onLines?: (lines: number) => void;
}

export interface ImportResult {
  categories: number;
  pets: number;
  /** Names that the store already has: of categories, or of pets with `intoExisting`. */
  repeated: number;
  /** The lines that were skipped. */
  badLines: BadLines;
}

/** Nothing was imported, because the file has invalid lines. */
export class CatalogueRefusedError extends Error {
  constructor(readonly badLines: BadLines) {
    super('The catalogue has invalid lines.');
  }
}

/** Nothing was imported, because the store already has names of the file. */
export class CatalogueRepeatedError extends Error {
  /** @param example one of the names */
  constructor(
    readonly repeated: number,
    readonly example: string,
  ) {
    super('The store already has names of the catalogue.');
  }
}

const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;

/** Imports a catalogue (NDJSON), all or nothing. */
@Injectable()
export class ImportCatalogue {
  constructor(
    private readonly database: Database,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * @throws CatalogueRefusedError for invalid lines, without `skipInvalid`
   * @throws CatalogueRepeatedError for names that the store already has, without `mayRepeat`
   */
  run(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportResult> {
    return this.database.longTransaction(async (transaction) => {
      const badLines = new BadLines(MAX_REPORTED);
      const stage = await CatalogueStage.open(transaction);
      await fill(stage, source, badLines, options);
      await this.check(transaction, stage, badLines, options);
      if (badLines.count > 0 && !options.skipInvalid) {
        throw new CatalogueRefusedError(badLines);
      }
      const repeatedNames = this.repeatedNames(stage, options);
      const repeated = await countRows(transaction, repeatedNames);
      if (options.dryRun) {
        return { ...(await this.size(transaction, stage, options)), repeated, badLines };
      }
      if (repeated > 0 && !options.mayRepeat) {
        throw new CatalogueRepeatedError(repeated, await stage.firstName(repeatedNames));
      }
      // Ids are assigned last, so that a rejected file leaves no gap and an empty store still counts as unused.
      const counts = await this.enter(transaction, stage, options);
      const details = { ...counts, linesLeftOut: badLines.count };
      await this.trail.record(transaction, { action: 'catalogue.imported', details });
      return { ...counts, repeated, badLines };
    }, options);
  }

  /** A query for the names that the store already has. `lower(name)` lets it use their indexes. */
  private repeatedNames(stage: CatalogueStage, { intoExisting }: ImportOptions): string {
    const [staged, existing] = intoExisting
      ? [stage.petsIn(this.existing), `${PetCatalog.all} AND category_id = staged.category_id`]
      : [stage.categories, `${CategoryCatalog.all} WHERE true`];
    const same = `lower(name) = lower(staged.name) AND name = staged.name`;
    return `SELECT name FROM (${staged}) AS staged WHERE EXISTS (${existing} AND ${same})`;
  }

  private async size(transaction: Transaction, stage: CatalogueStage, { intoExisting }: ImportOptions) {
    const known = intoExisting ? this.existing : `SELECT file_id, file_id AS id FROM staged_categories`;
    const categories = intoExisting ? 0 : await countRows(transaction, stage.categories);
    return { categories, pets: await countRows(transaction, stage.petsIn(known)) };
  }

  private async check(
    transaction: Transaction,
    stage: CatalogueStage,
    badLines: BadLines,
    { intoExisting }: ImportOptions,
  ): Promise<void> {
    if (intoExisting) {
      await CategoryCatalog.keepAll(transaction, stage.categoryIds);
      await stage.refuseUnknownCategories(badLines, this.existing, 'the store');
    } else {
      await stage.refuseDuplicates(badLines);
      await stage.refuseUnknownCategories(badLines, stage.categories, 'this file');
    }
  }

  private async enter(
    transaction: Transaction,
    stage: CatalogueStage,
    { intoExisting }: ImportOptions,
  ): Promise<{ categories: number; pets: number }> {
    const categories = intoExisting
      ? 0
      : await CategoryCatalog.insertAll(transaction, stage.categories, 'entered_categories');
    const known = intoExisting ? this.existing : `SELECT file_id, id FROM entered_categories`;
    const pets = await PetCatalog.insertAll(transaction, stage.petsIn(known), 'entered_pets');
    await StockReservations.insertAll(transaction, `SELECT id AS pet_id, quantity FROM entered_pets`);
    return { categories, pets };
  }

  /** Existing categories, which the file refers to by their real ids. */
  private get existing(): string {
    return `SELECT id AS file_id, id FROM (${CategoryCatalog.all}) AS existing`;
  }
}

/** Reads the valid lines of the file into the stage. */
async function fill(
  stage: CatalogueStage,
  source: AsyncIterable<Buffer>,
  badLines: BadLines,
  { intoExisting, onLines }: ImportOptions,
): Promise<void> {
  for await (const lines of readLines(source, MAX_LINE_BYTES)) {
    for (const line of lines) {
      const read = 'text' in line ? readCatalogueLine(line.text, intoExisting) : line;
      if ('problem' in read) {
        badLines.add([{ line: line.number, problem: read.problem }]);
      } else {
        await stage.add(line.number, read.record);
      }
    }
    if (lines.length > 0) {
      onLines?.(lines.at(-1)!.number);
    }
  }
  await stage.complete();
}
