import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import split from 'split2';
import { Database, type Origin } from '#libs/database';
import { ApiError, Id, Integer, OneOf, ValidationFailedError, validated } from '#libs/http';
import { AuditTrail } from '../audit';
import { CategoriesService, NewCategoryDto } from '../categories';
import { STOCK_COUNT } from '../inventory';
import { NewPetDto, PetsService, UnknownCategoryError } from '../pets';

/** As many commands as share a transaction: so the lines before a failure are in the store, and none after it. */
const GROUP_LINES = 150;
/** As large as a request's body. */
const MAX_LINE_LENGTH = 64 * 1024;
const MAX_REPORTED = 20;
/** The operator is no client. */
const ORIGIN: Origin = { owner: 0 };

export interface ImportOptions {
  /** Lines before this one are in the store already: their categories are found by name. */
  fromLine?: number;
  signal?: AbortSignal;
  /** Called before names are imported that the store has already; throws if the import must not go on. */
  onRepeated?(names: number, example: string): Promise<void>;
  /** Called with the number of lines read so far. */
  onLines?(lines: number): void;
}

/** How far an import has come. */
export interface ImportProgress {
  categories: number;
  pets: number;
  /** All lines before this one are in the store, unless they are bad. */
  nextLine: number;
  badLines: number;
  /** The first of the bad lines. */
  problems: { line: number; problem: string }[];
}

/** The import has ended early, because of its cause. */
export class ImportStoppedError extends Error {
  constructor(
    readonly progress: ImportProgress,
    override readonly cause: unknown,
  ) {
    super('The import has ended early.');
  }
}

/** Imports a catalogue (NDJSON) by the commands that POST runs. After a bad line the others are checked only. */
@Injectable()
export class ImportCatalogue {
  constructor(
    readonly database: Database,
    readonly categories: CategoriesService,
    readonly pets: PetsService,
    private readonly trail: AuditTrail,
  ) {}

  /** @throws ImportStoppedError if it is interrupted or must not go on, or the database fails */
  async run(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportProgress> {
    const run = new ImportRun(this, options);
    const { progress } = run;
    try {
      await run.whole(source);
      await this.record(progress);
      return progress;
    } catch (error) {
      // Why it has ended is what the operator needs to know, even if this cannot be recorded either.
      await this.record(progress).catch(() => undefined);
      throw new ImportStoppedError(progress, options.signal?.aborted ? options.signal.reason : error);
    }
  }

  private async record({ categories, pets, badLines: linesLeftOut }: ImportProgress): Promise<void> {
    if (categories + pets > 0) {
      const entry = { action: 'catalogue.imported', details: { categories, pets, linesLeftOut } } as const;
      await this.database.transaction((transaction) => this.trail.record(transaction, entry));
    }
  }
}

/** A parsed line, or what is wrong with it. */
export type CatalogueLine = { record: CategoryLine | PetLine } | { problem: string };

const NO_JSON = 'must be a JSON object; it ends too early or has an unexpected character.';
const KINDS = ['category', 'pet'];

export class CategoryLine extends NewCategoryDto {
  @OneOf(KINDS, { description: 'That it is a category.' })
  kind!: 'category';

  @Id({ description: 'What the pets of the file call the category by; the store gives it another.' })
  id!: number;
}

export class PetLine extends NewPetDto {
  @OneOf(KINDS, { description: 'That it is a pet.' })
  kind!: 'pet';

  @Id({ description: 'Its id where it comes from; means nothing here.', optional: true })
  id?: number;

  @Integer({ ...STOCK_COUNT, description: 'Units in stock; default: those of a new pet.', optional: true })
  quantity?: number;
}

/** Parses a line. Never throws; a problem names each field and its valid values. */
export function readCatalogueLine(text: string): CatalogueLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== 'object' || line === null || Array.isArray(line)) {
      throw new ValidationFailedError('must be a JSON object.');
    }
    const isCategory = 'kind' in line && line.kind === 'category';
    return { record: { ...(isCategory ? validated(CategoryLine, line) : validated(PetLine, line)) } };
  } catch (error) {
    return { problem: error instanceof ApiError ? error.message : NO_JSON };
  }
}

interface Line<Kind = CategoryLine | PetLine> {
  number: number;
  record: Kind;
}

/** The newest categories of these names. SQL, because TypeORM groups no rows. */
const CATEGORIES_BY_NAME = `SELECT categories.name, max(id)::float8 AS id FROM unnest($1::text[]) AS asked (name)
  JOIN categories ON lower(categories.name) = lower(asked.name) AND categories.name = asked.name
  GROUP BY categories.name`;

/** One run of an import. Reads a group of lines while the one before it is written. */
class ImportRun {
  readonly progress: ImportProgress;
  private readonly fromLine: number;
  /** The categories of the file by the ids that it has for them; with those of the store once they are there. */
  private readonly categoryIds = new Map<number, number | undefined>();
  /** Has made these itself: a file may have a name twice. */
  private readonly created = new Set<number>();
  private linesRead = 0;
  private mayRepeat: boolean;

  constructor(
    private readonly store: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {
    this.fromLine = options.fromLine ?? 1;
    this.progress = { categories: 0, pets: 0, nextLine: this.fromLine, badLines: 0, problems: [] };
    this.mayRepeat = options.onRepeated === undefined;
  }

  async whole(source: AsyncIterable<Buffer>): Promise<void> {
    const { signal } = this.options;
    let written = Promise.resolve();
    const writeAll = async (lines: AsyncIterable<string>): Promise<void> => {
      for await (const group of this.groupsOf(lines)) {
        await written;
        signal?.throwIfAborted();
        written = this.write(group);
        // Its error is thrown when it is awaited, with the next group.
        written.catch(() => undefined);
      }
    };
    try {
      await pipeline(source, split({ maxLength: MAX_LINE_LENGTH }), writeAll, { signal });
    } catch (error) {
      if ((error as Error).message !== 'maximum buffer reached') {
        throw error;
      }
      this.leaveOut(this.linesRead + 1, `must be at most ${MAX_LINE_LENGTH} characters long.`);
    } finally {
      await written;
    }
  }

  /** Lines that follow each other and are of one kind. */
  private async *groupsOf(lines: AsyncIterable<string>): AsyncGenerator<Line[]> {
    let group: Line[] = [];
    for await (const text of lines) {
      this.linesRead += 1;
      const record = text.trim() === '' ? undefined : this.recordOf(this.linesRead, text);
      if (record !== undefined) {
        const [first = { record }] = group;
        if (group.length === GROUP_LINES || first.record.kind !== record.kind) {
          yield group;
          group = [];
          this.options.onLines?.(this.linesRead);
        }
        group.push({ number: this.linesRead, record });
      }
    }
    yield group;
  }

  /** What the line has to import, if anything. */
  private recordOf(number: number, text: string): CategoryLine | PetLine | undefined {
    const isEarlier = number < this.fromLine;
    const read = readCatalogueLine(number === 1 ? text.replace(/^\ufeff/, '') : text);
    const problem = 'problem' in read ? read.problem : this.problemOf(read.record);
    if ('problem' in read || problem !== undefined) {
      if (!isEarlier) {
        this.leaveOut(number, problem!);
      }
      return undefined;
    }
    const { record } = read;
    if (record.kind === 'category') {
      this.categoryIds.set(record.id, undefined);
    } else if (isEarlier) {
      return undefined;
    }
    return this.progress.badLines === 0 ? record : undefined;
  }

  private problemOf(record: CategoryLine | PetLine): string | undefined {
    const { categoryIds } = this;
    if (record.kind === 'category') {
      return categoryIds.has(record.id) ? `id ${record.id} is the id of a category above.` : undefined;
    }
    return categoryIds.has(record.categoryId)
      ? undefined
      : `categoryId ${record.categoryId} is not the id of a category above.`;
  }

  private leaveOut(line: number, problem: string): void {
    this.progress.badLines += 1;
    if (this.progress.problems.length < MAX_REPORTED) {
      this.progress.problems.push({ line, problem });
    }
  }

  private async write(group: Line[]): Promise<void> {
    const { progress } = this;
    const categories = group.filter((line): line is Line<CategoryLine> => line.record.kind === 'category');
    const pets = group.filter((line): line is Line<PetLine> => line.record.kind === 'pet');
    progress.categories += await this.create(await this.newOnes(categories), async ({ record }) => {
      const { id } = await this.store.categories.create(
        { name: record.name, description: record.description },
        ORIGIN,
      );
      this.categoryIds.set(record.id, id);
      this.created.add(id);
    });
    progress.pets += await this.create(pets, async ({ record }) => {
      const categoryId = this.categoryIds.get(record.categoryId);
      if (categoryId === undefined) {
        throw new UnknownCategoryError(record.categoryId);
      }
      // Nothing in stock and no open order: as the same requests would leave it.
      const status = record.quantity === 0 ? 'sold' : record.status;
      const pet = { name: record.name, categoryId, ...(status && { status }) };
      await this.store.pets.create(pet, ORIGIN, record.quantity);
    });
    progress.nextLine = Math.max(progress.nextLine, (group.at(-1)?.number ?? 0) + 1);
  }

  /** Finds the categories of earlier lines, and asks before others get a name that is there already. */
  private async newOnes(lines: Line<CategoryLine>[]): Promise<Line<CategoryLine>[]> {
    if (lines.length === 0) {
      return lines;
    }
    const names = lines.map(({ record }) => record.name);
    const rows = await this.store.database.run<{ name: string; id: number }>({ text: CATEGORIES_BY_NAME }, [
      names,
    ]);
    const known = new Map(
      rows.flatMap(({ name, id }) => (this.created.has(id) ? [] : [[name, id] as const])),
    );
    const others = lines.filter(({ number }) => number >= this.fromLine);
    for (const { number, record } of lines) {
      if (number < this.fromLine) {
        this.categoryIds.set(record.id, known.get(record.name));
      }
    }
    const [example, ...more] = others.flatMap(({ record }) => (known.has(record.name) ? record.name : []));
    if (example !== undefined && !this.mayRepeat) {
      await this.options.onRepeated?.(more.length + 1, example);
      this.mayRepeat = true;
    }
    return others;
  }

  /** @returns how many were created: what the store refuses is reported as a bad line */
  private async create<Kind>(lines: Line<Kind>[], one: (line: Line<Kind>) => Promise<void>): Promise<number> {
    const outcomes = await Promise.allSettled(lines.map(one));
    const errors = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as Error) : null,
    );
    for (const [index, error] of errors.entries()) {
      if (error instanceof ApiError && error.status < 500) {
        this.leaveOut(lines[index]!.number, error.message);
      } else if (error !== null) {
        throw error;
      }
    }
    return errors.filter((error) => error === null).length;
  }
}
