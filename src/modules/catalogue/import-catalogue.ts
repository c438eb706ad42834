import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, type Origin, SERVICE_CALLER, isDatabaseUnavailable } from '#libs/database';
import { ApiError, ValidationFailedError } from '#libs/http';
import { OperatorError } from '../../operator-error';
import { AuditTrail } from '../audit';
import { CategoriesService } from '../categories';
import { PetsService, UnknownCategoryError } from '../pets';
import {
  type CatalogueCounts,
  type CatalogueLine,
  type CategoryLine,
  type PetLine,
  parseLine,
} from './catalogue-format';

/** They share a transaction, as long as the database refuses none of them. */
const GROUP_LINES = 50;
/** As large as a request's body. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 5;
/** The operator is no client. */
const ORIGIN: Origin = { owner: SERVICE_CALLER };

/** The newest categories of these names. SQL, because TypeORM groups no rows. */
const CATEGORIES_BY_NAME = {
  text: `SELECT category.name, max(category.id) AS id FROM unnest($1::text[]) AS asked (name)
    JOIN categories AS category
      ON lower(category.name) COLLATE "C" = lower(asked.name) AND category.name = asked.name
    GROUP BY category.name`,
};

export interface ImportOptions {
  /** Lines before this one are in the store already: categories that pets refer to are found by their names. */
  fromLine?: number;
  signal?: AbortSignal;
  /** Called before names are imported that the store has already; throws if the import must not go on. */
  onRepeated?(names: number, example: string): Promise<void>;
  /** Called with the number of lines read so far. */
  onLines?(lines: number): void;
}

/** How far an import has come. */
export interface ImportProgress {
  created: CatalogueCounts;
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
  async importFrom(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportProgress> {
    const run = new ImportRun(this, options);
    const { progress } = run;
    try {
      await run.importLines(source);
      await this.record(progress);
      return progress;
    } catch (error) {
      // Why it has ended is what the operator needs to know, even if this cannot be recorded either.
      await this.record(progress).catch(() => undefined);
      throw new ImportStoppedError(progress, options.signal?.aborted ? options.signal.reason : error);
    }
  }

  private async record({ created, badLines: linesLeftOut }: ImportProgress): Promise<void> {
    if (created.categories + created.pets > 0) {
      const entry = { action: 'catalogue.imported', details: { ...created, linesLeftOut } } as const;
      await this.database.transaction((transaction) => this.trail.record(transaction, entry));
    }
  }
}

interface NumberedLine<Line = CatalogueLine> {
  number: number;
  line: Line;
}

function isCategory(one: NumberedLine): one is NumberedLine<CategoryLine> {
  return one.line.kind === 'category';
}

/** One run of an import. */
class ImportRun {
  readonly progress: ImportProgress;
  private readonly fromLine: number;
  /** The categories by the ids that the file has for them; with those of the store once they are there. */
  private readonly categoryIds = new Map<number, number | undefined>();
  /** The categories that it has made itself: a file may have a name twice. */
  private readonly createdIds = new Set<number>();
  private mayRepeat: boolean;

  constructor(
    private readonly store: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {
    this.fromLine = options.fromLine ?? 1;
    const created = { categories: 0, pets: 0 };
    this.progress = { created, nextLine: this.fromLine, badLines: 0, problems: [] };
    this.mayRepeat = options.onRepeated === undefined;
  }

  /** Imports groups of lines that follow each other and are of one kind. */
  async importLines(source: AsyncIterable<Buffer>): Promise<void> {
    let number = 0;
    let group: NumberedLine[] = [];
    for await (const bytes of linesOf(source)) {
      number += 1;
      const line = this.read(number, bytes);
      if (line === undefined) {
        continue;
      }
      if (group.length === GROUP_LINES || (group[0] && group[0].line.kind !== line.kind)) {
        await this.write(group);
        group = [];
        this.options.onLines?.(number);
      }
      if (this.progress.badLines === 0) {
        group.push({ number, line });
      }
    }
    await this.write(group);
    // The line after the last is where an import that was interrupted at its end goes on.
    if (this.fromLine > number + 1) {
      throw new OperatorError(
        `The file has ${number} lines, and none from ${this.fromLine} on.`,
        'no_such_line',
      );
    }
  }

  /** What the line has to import, if anything. */
  private read(number: number, bytes: Buffer): CatalogueLine | undefined {
    const isEarlier = number < this.fromLine;
    try {
      const line = this.checked(bytes);
      const isToDo = line?.kind === 'category' || !isEarlier;
      return isToDo && this.progress.badLines === 0 ? line : undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      if (!isEarlier) {
        this.leaveOut(number, error.message);
      }
      return undefined;
    }
  }

  /** @throws ApiError for a bad line */
  private checked(bytes: Buffer): CatalogueLine | undefined {
    if (bytes.length > MAX_LINE_BYTES) {
      throw new ValidationFailedError(`must be at most ${MAX_LINE_BYTES} bytes long.`);
    }
    if (/^\s*$/.test(bytes.toString('latin1'))) {
      return undefined;
    }
    const line = parseLine(bytes);
    if (line.kind === 'pet' && !this.categoryIds.has(line.categoryId)) {
      throw new ValidationFailedError(`categoryId ${line.categoryId} is not the id of a category above.`);
    }
    if (line.kind === 'category') {
      if (this.categoryIds.has(line.id)) {
        throw new ValidationFailedError(`id ${line.id} is the id of a category above.`);
      }
      this.categoryIds.set(line.id, undefined);
    }
    return line;
  }

  private leaveOut(line: number, problem: string): void {
    this.progress.badLines += 1;
    if (this.progress.problems.length < MAX_REPORTED) {
      this.progress.problems.push({ line, problem });
    }
  }

  private async write(group: NumberedLine[]): Promise<void> {
    const { signal } = this.options;
    const lines = await this.newOnes(group);
    const since = performance.now();
    await this.createAll(lines);
    this.progress.nextLine = Math.max(this.progress.nextLine, (group.at(-1)?.number ?? 0) + 1);
    // Half of the time the processors and the database are free for others.
    await pause(performance.now() - since, undefined, { signal });
  }

  /** Finds the categories of earlier lines, and asks before others get a name that is there already. */
  private async newOnes(group: NumberedLine[]): Promise<NumberedLine[]> {
    const categories = group.filter(isCategory);
    if (categories.length === 0) {
      return group;
    }
    const names = categories.map(({ line }) => line.name);
    const rows = await this.store.database.query<{ name: string; id: number }>(CATEGORIES_BY_NAME, [names]);
    const known = new Map(
      rows.filter(({ id }) => !this.createdIds.has(id)).map(({ name, id }) => [name, id]),
    );
    const isEarlier = ({ number }: NumberedLine) => number < this.fromLine;
    categories.filter(isEarlier).forEach(({ line }) => this.categoryIds.set(line.id, known.get(line.name)));
    const others = categories.filter((one) => !isEarlier(one));
    const [example, ...more] = others.flatMap(({ line }) => (known.has(line.name) ? line.name : []));
    if (example !== undefined && !this.mayRepeat) {
      await this.options.onRepeated?.(more.length + 1, example);
      this.mayRepeat = true;
    }
    return others;
  }

  /** What the store or the database refuses is reported as a bad line. */
  private async createAll(lines: NumberedLine[]): Promise<void> {
    const outcomes = await Promise.allSettled(lines.map(({ line }) => this.create(line)));
    const isNoneCreated = outcomes.every(({ status }) => status === 'rejected');
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') {
        continue;
      }
      const { number, line } = lines[index]!;
      const error = outcome.reason as Error;
      if (isNoneCreated && !(error instanceof ApiError && error.status < 500)) {
        throw error;
      }
      if (isDatabaseUnavailable(error)) {
        // Others of the group are in the store, so this line is tried alone: if it fails, the import ends before it.
        this.progress.nextLine = number;
        await this.create(line);
      } else {
        this.leaveOut(number, error.message);
      }
    }
  }

  private create(line: CatalogueLine): Promise<void> {
    return line.kind === 'category' ? this.createCategory(line) : this.createPet(line);
  }

  private async createCategory({ kind: _kind, id: idInFile, ...body }: CategoryLine): Promise<void> {
    const { id } = await this.store.categories.create(body, ORIGIN);
    this.categoryIds.set(idInFile, id);
    this.createdIds.add(id);
    this.progress.created.categories += 1;
  }

  private async createPet({ kind: _kind, id: _id, quantity, ...body }: PetLine): Promise<void> {
    const categoryId = this.categoryIds.get(body.categoryId);
    if (categoryId === undefined) {
      throw new UnknownCategoryError(body.categoryId);
    }
    // Nothing in stock and no open order: as the same requests would leave it.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    await this.store.pets.create({ ...body, categoryId, ...held }, ORIGIN, quantity);
    this.progress.created.pets += 1;
  }
}

const LINE_FEED = 0x0a;

/** Lines without their ends. The last one may be longer than a line may be: what follows it is not read. */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED, start)) {
      yield rest.subarray(start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_LINE_BYTES) {
      break;
    }
  }
  if (rest.length > 0) {
    yield rest;
  }
}
