import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, type Origin, SERVICE_CALLER, isDatabaseUnavailable } from '#libs/database';
import { ApiError, ValidationFailedError } from '#libs/http';
import { OperatorError } from '#libs/messages';
import { AuditTrail } from '../audit';
import { CategoriesService } from '../categories';
import { IdempotencyInProgressError, KeyedRequest } from '../idempotency';
import { PetsService, UnknownCategoryError } from '../pets';
import { type CatalogueCounts, type CatalogueLine, lineOf, parseObject } from './catalogue-format';

/** Maximum number of lines that are sent to the store together. These lines share a transaction, unless the database rejects a line. */
const GROUP_LINES = 50;
/** The same limit as for the body of a request. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;
const NOT_JSON =
  'must be a JSON object in UTF-8; it ends too early, or has an unexpected character or another encoding.';
/** How often a line is sent again while the database is unavailable, with a pause of `PAUSE_MS` before each attempt. */
const ATTEMPTS = 4;
const PAUSE_MS = 500;

/**
 * For each of these names, reads the newest category and the number of categories with the name. Uses plain SQL, because
 * TypeORM's repositories cannot group rows.
 */
const CATEGORIES_BY_NAME = {
  text: `SELECT category.name, max(category.id) AS id, count(*)::int FROM unnest($1::text[]) AS asked (name)
    JOIN categories AS category
      ON lower(category.name) COLLATE "C" = lower(asked.name) AND category.name = asked.name
    GROUP BY category.name`,
};

export interface ImportOptions {
  /**
   * The first line to import. Pets on earlier lines are skipped, and categories on earlier lines are looked up in the store by
   * name.
   */
  fromLine?: number;
  /** The `run` of an interrupted import, which this import continues. No line is written twice within 24 hours. */
  run?: string;
  checkOnly?: boolean;
  signal?: AbortSignal;
  /**
   * Called once, before the import creates categories whose names the store already has. If the callback throws, the import ends.
   */
  onRepeated?(names: number, example: string): Promise<void>;
  onLines?(lines: number): void;
}

export interface ImportOutcome {
  created: CatalogueCounts;
  /** The line at which an interrupted import can continue. All earlier lines are in the store, except bad lines. */
  nextLine: number;
  badLines: number;
  problems: { line: number; problem: string }[];
  isNdjson: boolean;
  /** The random part of every line's idempotency key. A line that is sent again with the same key is created only once. */
  run: string;
  /** Set if the database failed: the lines from `nextLine` to this line may or may not be in the store. */
  unknownTo?: number;
  error?: Error;
}

/**
 * Imports an NDJSON catalogue with the same commands as POST requests. After the first bad line, the remaining lines are only
 * checked.
 */
@Injectable()
export class ImportCatalogue {
  constructor(
    readonly database: Database,
    readonly categories: CategoriesService,
    readonly pets: PetsService,
    private readonly trail: AuditTrail,
  ) {}

  async importFrom(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportOutcome> {
    const run = new ImportRun(this, options);
    const { outcome } = run;
    try {
      await run.importLines(source);
    } catch (error) {
      outcome.error = (options.signal?.aborted ? options.signal.reason : error) as Error;
    }
    // Record the import in the audit log. If the import and the recording both fail, report the error of the import.
    if (!options.checkOnly) {
      await this.record(outcome).catch((error: Error) => (outcome.error ??= error));
    }
    return outcome;
  }

  private async record({ created, badLines: linesLeftOut }: ImportOutcome): Promise<void> {
    if (created.categories + created.pets > 0) {
      const entry = { action: 'catalogue.imported', details: { ...created, linesLeftOut } } as const;
      await this.database.transaction((transaction) => this.trail.record(transaction, entry));
    }
  }
}

type NumberedLine = CatalogueLine & { number: number };

interface NamedCategory {
  name: string;
  id: number;
  count: number;
}

function ambiguousNameMessage(line: number, name: string, count: number): string {
  const where =
    count > 1 ? `the store has ${count} categories of that name` : 'a line above has the same name';
  return (
    `Line ${line}: "${name}" does not identify a category of the store, because ${where}. ` +
    'Give each category a different name, in the store and in the file.'
  );
}

class ImportRun {
  private readonly fromLine = this.options.fromLine ?? 1;
  readonly outcome: ImportOutcome = {
    created: { categories: 0, pets: 0 },
    nextLine: this.fromLine,
    badLines: 0,
    problems: [],
    isNdjson: false,
    run: this.options.run ?? randomUUID(),
  };
  /**
   * Maps category ids of the file to category ids of the store. The store's id is undefined until the category is created or
   * found.
   */
  private readonly categoryIds = new Map<number, number | undefined>();
  private readonly createdIds = new Set<number>();
  private readonly earlierNames = new Set<string>();
  /** A continued import finds names that it has written itself, so the operator is not asked again. */
  private askOnce = this.options.run === undefined ? this.options.onRepeated : undefined;

  constructor(
    private readonly store: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {}

  async importLines(source: AsyncIterable<Buffer>): Promise<void> {
    let number = 0;
    let group: NumberedLine[] = [];
    for await (const text of linesOf(source)) {
      number += 1;
      const line = text.trim() === '' ? undefined : this.read(number, text);
      if (line === undefined) {
        continue;
      }
      if (group.length === GROUP_LINES || (group[0] && group[0].kind !== line.kind)) {
        await this.importGroup(group);
        group = [];
        this.options.onLines?.(number);
      }
      if (this.outcome.badLines === 0 || this.options.checkOnly) {
        group.push({ ...line, number });
      }
    }
    await this.importGroup(group);
    // `fromLine` may be one more than the number of lines: an import that was interrupted after its last line resumes there and
    // has nothing left to do.
    if (this.fromLine > number + 1) {
      const message = `The file has ${number} lines, and none from ${this.fromLine} on.`;
      throw new OperatorError(message, 'no_such_line');
    }
  }

  /**
   * Parses a line. Returns undefined for a bad line, which is reported, and for a pet that an earlier run has already imported.
   */
  private read(number: number, text: string): CatalogueLine | undefined {
    const isEarlier = number < this.fromLine;
    try {
      const line = this.checked(text);
      return isEarlier && line.kind === 'pet' ? undefined : line;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      if (!isEarlier) {
        this.leaveOut(number, error.code === 'malformed_json' ? NOT_JSON : error.message);
      }
      return undefined;
    }
  }

  private checked(text: string): CatalogueLine {
    if (text.length > MAX_LINE_BYTES) {
      throw new ValidationFailedError(`must be at most ${MAX_LINE_BYTES} bytes long.`);
    }
    const object = parseObject(Buffer.from(text, 'latin1'));
    this.outcome.isNdjson = true;
    const line = lineOf(object);
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
    this.outcome.badLines += 1;
    if (this.outcome.problems.length < MAX_REPORTED) {
      this.outcome.problems.push({ line, problem });
    }
  }

  private async importGroup(group: NumberedLine[]): Promise<void> {
    const lines = await this.newOnes(group);
    const since = performance.now();
    await this.createAll(lines);
    this.outcome.nextLine = Math.max(this.outcome.nextLine, (group.at(-1)?.number ?? 0) + 1);
    // Pause for as long as the group took, so that the database and the processors are free for requests half of the time.
    await pause(performance.now() - since, undefined, { signal: this.options.signal });
  }

  /**
   * Returns the lines to create. Looks up the ids of categories that an earlier run has imported, and asks the operator before
   * the import creates a category whose name the store already has.
   */
  private async newOnes(group: NumberedLine[]): Promise<NumberedLine[]> {
    const categories = group.filter((line) => line.kind === 'category');
    if (categories.length === 0) {
      return group;
    }
    const known = await this.idsInStore(categories.map(({ name }) => name));
    const earlier = categories.filter(({ number }) => number < this.fromLine);
    for (const { id, name, number } of earlier) {
      const { id: idInStore, count = 0 } = known.get(name) ?? {};
      if (count > 1 || this.earlierNames.has(name)) {
        throw new OperatorError(ambiguousNameMessage(number, name, count), 'ambiguous_category');
      }
      this.earlierNames.add(name);
      this.categoryIds.set(id, idInStore);
    }
    const others = categories.slice(earlier.length);
    const [example, ...more] = others.filter(({ name }) => known.has(name));
    if (example !== undefined) {
      await this.askOnce?.(more.length + 1, example.name);
      this.askOnce = undefined;
    }
    return others;
  }

  /**
   * Finds the newest category of each name in the store. Leaves out categories that this import has created, because a file may
   * use a name twice.
   */
  private async idsInStore(names: string[]): Promise<Map<string, NamedCategory>> {
    const rows = await this.store.database.query<NamedCategory>(CATEGORIES_BY_NAME, [[...new Set(names)]]);
    return new Map(rows.filter(({ id }) => !this.createdIds.has(id)).map((row) => [row.name, row]));
  }

  /**
   * Creates the categories and pets of these lines. If the store's rules or the database reject a line, that line is reported as
   * bad, and the others are still created.
   */
  private async createAll(lines: NumberedLine[]): Promise<void> {
    const outcomes = await Promise.allSettled(lines.map((line) => this.create(line)));
    for (const [index, line] of lines.entries()) {
      const error = (outcomes[index] as PromiseRejectedResult).reason as Error | undefined;
      if (isDatabaseUnavailable(error)) {
        // The database may or may not have created this line and the lines after it. Send this line alone: if it fails again, the
        // import ends here.
        this.outcome.nextLine = line.number;
        this.outcome.unknownTo = lines.at(-1)!.number;
        await this.createAgain(line);
        this.outcome.unknownTo = undefined;
      } else if (error !== undefined) {
        this.leaveOut(line.number, error.message);
      }
    }
  }

  /**
   * Sends a line again after the database failed. The idempotency key ensures that the line is created only once. While the first
   * attempt is still running, waits for its end.
   */
  private async createAgain(line: NumberedLine): Promise<void> {
    for (let left = ATTEMPTS; ; left -= 1) {
      try {
        return await this.create(line);
      } catch (error) {
        const isOver =
          !(error instanceof IdempotencyInProgressError) && (left <= 1 || !isDatabaseUnavailable(error));
        if (isOver) {
          throw error;
        }
        await pause(PAUSE_MS, undefined, { signal: this.options.signal });
      }
    }
  }

  /**
   * Names the service as the sender of a line, because the operator is no client. The idempotency key contains the line number,
   * so that each line is created once.
   */
  private originOf({ number }: NumberedLine): Origin {
    const keyed = new KeyedRequest(`${SERVICE_CALLER} ${this.outcome.run} ${number}`, String(number), 201);
    return { owner: SERVICE_CALLER, wrap: (command) => keyed.once(command) };
  }

  private async create(line: NumberedLine): Promise<void> {
    const { categories, pets } = this.store;
    const { checkOnly } = this.options;
    if (line.kind === 'category') {
      const { kind: _kind, number: _number, id: idInFile, ...body } = line;
      const { id } = checkOnly ? { id: 0 } : await categories.create(body, this.originOf(line));
      this.categoryIds.set(idInFile, id);
      this.createdIds.add(id);
      this.outcome.created.categories += 1;
      return;
    }
    const { kind: _kind, number: _number, id: _id, quantity, ...body } = line;
    const categoryId = this.categoryIds.get(body.categoryId);
    if (categoryId === undefined) {
      throw new UnknownCategoryError(body.categoryId);
    }
    // A pet with no stock and no open order is `sold`, as if a request had set its stock to 0.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    if (!checkOnly) {
      await pets.create({ ...body, categoryId, ...held }, this.originOf(line), quantity);
    }
    this.outcome.created.pets += 1;
  }
}

/**
 * Splits a file into lines without their line ends. Each byte becomes one character, because a chunk may end within a UTF-8
 * character. A line that is too long is cut just above the limit: it is still reported as too long, but does not fill the memory.
 */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop()!.slice(0, MAX_LINE_BYTES + 1);
    yield* lines;
  }
  if (rest !== '') {
    yield rest;
  }
}
