import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, type Origin, SERVICE_CALLER, isDatabaseUnavailable } from '#libs/database';
import { ApiError, ValidationFailedError } from '#libs/http';
import { OperatorError } from '../../operator-error';
import { AuditTrail } from '../audit';
import { CategoriesService } from '../categories';
import { IdempotencyInProgressError, KeyedRequest } from '../idempotency';
import { PetsService, UnknownCategoryError } from '../pets';
import { type CatalogueCounts, type CatalogueLine, lineOf, parseObject } from './catalogue-format';

/** They share a transaction, as long as the database refuses none of them. */
const GROUP_LINES = 50;
/** As large as a request's body. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;
const NOT_JSON =
  'must be a JSON object in UTF-8; it ends too early, or has an unexpected character or another encoding.';
/** How many attempts are made for a line whose outcome is unknown, and the pause between two attempts. */
const ATTEMPTS = 4;
const PAUSE_MS = 500;

/** The newest categories of these names, and how many there are. SQL, because TypeORM groups no rows. */
const CATEGORIES_BY_NAME = {
  text: `SELECT category.name, max(category.id) AS id, count(*)::int FROM unnest($1::text[]) AS asked (name)
    JOIN categories AS category
      ON lower(category.name) COLLATE "C" = lower(asked.name) AND category.name = asked.name
    GROUP BY category.name`,
};

export interface ImportOptions {
  /** Lines before this one are in the store already: categories that pets refer to are found by their names. */
  fromLine?: number;
  /** Checks all lines against the store, and creates nothing. */
  checkOnly?: boolean;
  signal?: AbortSignal;
  /** Called before names are imported that the store has already; throws if the import must not go on. */
  onRepeated?(names: number, example: string): Promise<void>;
  /** Called with the number of lines read so far. */
  onLines?(lines: number): void;
}

/** What an import has done, or would do. */
export interface ImportOutcome {
  created: CatalogueCounts;
  /** All lines before this one are in the store, unless they are bad. */
  nextLine: number;
  badLines: number;
  /** The first of the bad lines. */
  problems: { line: number; problem: string }[];
  /** A line of the file was a JSON object. */
  isNdjson: boolean;
  /** After a failure of the database, the lines from `nextLine` to this one may be in the store. */
  unknownTo?: number;
  /** Why it has ended early: it was interrupted, must not go on, or the database has failed. */
  error?: Error;
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

  async importFrom(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportOutcome> {
    const run = new ImportRun(this, options);
    const { outcome } = run;
    try {
      await run.importLines(source);
    } catch (error) {
      outcome.error = (options.signal?.aborted ? options.signal.reason : error) as Error;
    }
    // The reason of the end is what the operator needs to know, even if this cannot be recorded either.
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

/** The message for a category of an earlier line whose name does not identify the category in the store. */
function ambiguity(line: number, name: string, count: number): string {
  const where =
    count > 1 ? `the store has ${count} categories of that name` : 'a line above has the same name';
  return (
    `Line ${line}: "${name}" does not identify a category of the store, because ${where}. ` +
    'Give each category a different name, in the store and in the file.'
  );
}

/** One run of an import. */
class ImportRun {
  private readonly fromLine = this.options.fromLine ?? 1;
  readonly outcome: ImportOutcome = {
    created: { categories: 0, pets: 0 },
    nextLine: this.fromLine,
    badLines: 0,
    problems: [],
    isNdjson: false,
  };
  /** Part of every line's idempotency key. A line that is sent again, because its reply was lost, is therefore created once. */
  private readonly key = randomUUID();
  /** The categories by the ids that the file has for them; with those of the store once they are there. */
  private readonly categoryIds = new Map<number, number | undefined>();
  /** The categories that this import has created: a file may have a name twice. */
  private readonly createdIds = new Set<number>();
  /** The names of the categories of earlier lines. */
  private readonly earlierNames = new Set<string>();
  private askOnce = this.options.onRepeated;

  constructor(
    private readonly store: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {}

  /** Imports groups of lines that follow each other and are of one kind. */
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
    // The line after the last is where an import that was interrupted at its end goes on.
    if (this.fromLine > number + 1) {
      const message = `The file has ${number} lines, and none from ${this.fromLine} on.`;
      throw new OperatorError(message, 'no_such_line');
    }
  }

  /** The line, unless it is bad, or a pet that is in the store already. */
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

  /** @throws ApiError for a bad line */
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
    // Half of the time the processors and the database are free for others.
    await pause(performance.now() - since, undefined, { signal: this.options.signal });
  }

  /** Finds the categories of earlier lines, and asks before others get a name that is there already. */
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
        throw new OperatorError(ambiguity(number, name, count), 'ambiguous_category');
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

  /** The categories of these names that are not its own. */
  private async idsInStore(names: string[]): Promise<Map<string, NamedCategory>> {
    const rows = await this.store.database.query<NamedCategory>(CATEGORIES_BY_NAME, [[...new Set(names)]]);
    return new Map(rows.filter(({ id }) => !this.createdIds.has(id)).map((row) => [row.name, row]));
  }

  /** What the store or the database refuses is a bad line. */
  private async createAll(lines: NumberedLine[]): Promise<void> {
    const outcomes = await Promise.allSettled(lines.map((line) => this.create(line)));
    for (const [index, line] of lines.entries()) {
      const error = (outcomes[index] as PromiseRejectedResult).reason as Error | undefined;
      if (isDatabaseUnavailable(error)) {
        // Others of the group are in the store, so this line is tried alone: if it fails, the import ends before it.
        this.outcome.nextLine = line.number;
        this.outcome.unknownTo = lines.at(-1)!.number;
        await this.createAgain(line);
        this.outcome.unknownTo = undefined;
      } else if (error !== undefined) {
        this.leaveOut(line.number, error.message);
      }
    }
  }

  /** Creates a line unless an attempt whose reply was lost has created it. If that attempt still runs, waits for its end. */
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

  /** A line is created by the service, because the operator is no client, and once for its number in this run. */
  private originOf({ number }: NumberedLine): Origin {
    const keyed = new KeyedRequest(`${SERVICE_CALLER} ${this.key} ${number}`, String(number), 201);
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
    // Nothing in stock and no open order: as the same requests would leave it.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    if (!checkOnly) {
      await pets.create({ ...body, categoryId, ...held }, this.originOf(line), quantity);
    }
    this.outcome.created.pets += 1;
  }
}

/**
 * Lines without their ends, a character for each byte: a line may be cut anywhere, and must be UTF-8 as a whole. One that is
 * too long is cut, and still too long.
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
