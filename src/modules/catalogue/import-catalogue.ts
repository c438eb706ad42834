import { Injectable } from '@nestjs/common';
import { countRows, Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../audit';
import { CategoryCatalog } from '../categories';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { type BadLines, CatalogueStage } from './catalogue-stage';

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

/** Existing categories, which the file refers to by their real ids. */
const EXISTING = `SELECT id AS file_id, id FROM (${CategoryCatalog.all}) AS existing`;

/** Imports a catalogue (NDJSON), all or nothing. */
@Injectable()
export class ImportCatalogue {
  constructor(
    private readonly database: Database,
    private readonly trail: AuditTrail,
  ) {}

  /** @throws as `loadCatalogue` */
  run(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportResult> {
    return this.database.longTransaction(async (transaction) => {
      const result = await loadCatalogue(transaction, source, options);
      if (!options.dryRun) {
        const { categories, pets, badLines } = result;
        const details = { categories, pets, linesLeftOut: badLines.count };
        await this.trail.record(transaction, { action: 'catalogue.imported', details });
      }
      return result;
    }, options);
  }
}

/**
 * Loads a catalogue in a transaction of its caller.
 * @throws CatalogueRefusedError for invalid lines, without `skipInvalid`
 * @throws CatalogueRepeatedError for names that the store already has, without `mayRepeat`
 */
export async function loadCatalogue(
  transaction: Transaction,
  source: AsyncIterable<Buffer>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { intoExisting, mayRepeat, dryRun, skipInvalid, onLines } = options;
  const stage = new CatalogueStage(transaction);
  const { badLines } = stage;
  await stage.fill(source, { petsOnly: intoExisting, onLines });
  if (intoExisting) {
    await CategoryCatalog.keepAll(transaction, stage.categoryIds);
    await stage.refuseUnknownCategories(EXISTING, 'the store');
  } else {
    await stage.refuseDuplicates();
    await stage.refuseUnknownCategories(stage.categories, 'this file');
  }
  if (badLines.count > 0 && !skipInvalid) {
    throw new CatalogueRefusedError(badLines);
  }
  const repeatedNames = repeatedNamesOf(stage, intoExisting);
  const repeated = await countRows(transaction, repeatedNames);
  if (dryRun) {
    return { ...(await sizeOf(transaction, stage, intoExisting)), repeated, badLines };
  }
  if (repeated > 0 && !mayRepeat) {
    const [row] = await transaction.query<{ name: string }[]>(`${repeatedNames} LIMIT 1`);
    throw new CatalogueRepeatedError(repeated, row!.name);
  }
  // Ids are assigned last, so that a rejected file leaves no gap and an empty store still counts as unused.
  return { ...(await insert(transaction, stage, intoExisting)), repeated, badLines };
}

/** A query for the names that the store already has, in SQL like the stage. `lower(name)` lets it use their indexes. */
function repeatedNamesOf(stage: CatalogueStage, intoExisting = false): string {
  const [staged, existing] = intoExisting
    ? [stage.petsIn(EXISTING), `${PetCatalog.all} AND category_id = staged.category_id`]
    : [stage.categories, `${CategoryCatalog.all} WHERE true`];
  const same = `lower(name) = lower(staged.name) AND name = staged.name`;
  return `SELECT name FROM (${staged}) AS staged WHERE EXISTS (${existing} AND ${same})`;
}

async function sizeOf(transaction: Transaction, stage: CatalogueStage, intoExisting = false) {
  const known = intoExisting ? EXISTING : `SELECT file_id, file_id AS id FROM (${stage.categories}) AS known`;
  const categories = intoExisting ? 0 : await countRows(transaction, stage.categories);
  return { categories, pets: await countRows(transaction, stage.petsIn(known)) };
}

async function insert(transaction: Transaction, stage: CatalogueStage, intoExisting = false) {
  const categories = intoExisting
    ? 0
    : await CategoryCatalog.insertAll(transaction, stage.categories, 'entered_categories');
  const known = intoExisting ? EXISTING : `SELECT file_id, id FROM entered_categories`;
  const pets = await PetCatalog.insertAll(transaction, stage.petsIn(known), 'entered_pets');
  await StockReservations.insertAll(transaction, `SELECT id AS pet_id, quantity FROM entered_pets`);
  return { categories, pets };
}
