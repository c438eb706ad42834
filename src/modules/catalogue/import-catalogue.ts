import { hash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, type CommandSource, SERVICE_CALLER_ID, isDatabaseUnavailable } from '#libs/database';
import { ApiError, ValidationFailedError } from '#libs/http';
import { OperatorError } from '#libs/messages';
import { AuditTrail } from '../audit';
import { CategoriesService } from '../categories';
import { PetsService, UnknownCategoryError } from '../pets';
import {
  ANY_RESPONSE,
  IdempotencyInProgressError,
  IdempotencyKeyReusedError,
  IdempotentRequest,
} from '../writes';
import { type CatalogueCounts, type CatalogueLine, lineOf, parseObject } from './catalogue-format';

/** Maximum number of lines that are sent to the store together, as many as one transaction takes (`MAX_COMMANDS`). */
const GROUP_LINES = 150;
/** Maximum number of bytes of a line, the same as for the body of a request. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;
const NOT_JSON =
  'must be a JSON object in UTF-8; it ends too early, or has an unexpected character or another encoding.';
/** How many times a line is sent again if the database is unavailable, each time after PAUSE_MS. */
const ATTEMPTS = 4;
const PAUSE_MS = 500;

const CATEGORIES_BY_NAME = `SELECT category.name, max(category.id) AS id, count(*)::int
    FROM unnest($1::text[]) AS asked (name) JOIN categories AS category
      ON lower(category.name) COLLATE "C" = lower(asked.name) AND category.name = asked.name
    GROUP BY category.name`;

export interface ImportOptions {
  /** Number of the first line to import, counted from 1. An interrupted import has handled all lines before. */
  fromLine?: number;
  /**
   * The id of an interrupted import, which this import continues. If the interrupted import has created the pet or
   * category of a line in the last 24 hours, the line is skipped. Older lines are created again, because the store forgets
   * which lines it has created.
   */
  run?: string;
  checkOnly?: boolean;
  signal?: AbortSignal;
  /**
   * Called once, before the import creates a category with a name that the store already has. The callback can prevent
   * this by throwing an error.
   */
  onRepeated?(names: number, example: string): Promise<void>;
  onLines?(lines: number): void;
}

export interface ImportOutcome {
  created: CatalogueCounts;
  /** The line at which an interrupted import can continue. All earlier lines are in the store, except those with errors. */
  nextLine: number;
  badLines: number;
  problems: { line: number; problem: string }[];
  isNdjson: boolean;
  /**
   * A random id of the import. The id is part of each line's idempotency key, so that a line that is sent twice is
   * created once.
   */
  run: string;
  /**
   * Set only if the database failed. In this case, it is not known whether the lines from `nextLine` to `unknownTo`
   * were created.
   */
  unknownTo?: number;
  error?: Error;
}

/**
 * Imports a catalogue in NDJSON, by the same commands as POST requests. After the first line with an error, the remaining lines
 * are only checked.
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
    // Record the import even if it failed, because some lines may have been created.
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
  /** Maps ids of categories in the file to ids in the store, or to undefined until a category is created or found. */
  private readonly categoryIds = new Map<number, number | undefined>();
  private readonly createdIds = new Set<number>();
  private readonly earlierNames = new Set<string>();
  /**
   * Asks the operator before the import creates categories with names that the store already has. Undefined if the
   * import only checks the file (`checkOnly`) and creates nothing. Also undefined if the import continues an
   * interrupted import (`run`), which may have created these categories itself.
   */
  private askOnce =
    this.options.checkOnly || this.options.run !== undefined ? undefined : this.options.onRepeated;

  constructor(
    private readonly services: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {}

  async importLines(source: AsyncIterable<Buffer>): Promise<void> {
    const { run } = this.options;
    const { database } = this.services;
    const created = { text: ANY_RESPONSE, values: [this.nameOf('')] };
    if (run !== undefined && (await database.query(created)).length === 0) {
      const message = `The store has no line of import ${run} from the last 24 hours. To begin a new import, leave out --run.`;
      throw new OperatorError(message, 'unknown_run');
    }
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
    // `fromLine` may be one more than the number of lines if the import was interrupted after its last line.
    if (this.fromLine > number + 1) {
      const message = `The file has ${number} lines, and none from ${this.fromLine} on.`;
      throw new OperatorError(message, 'no_such_line');
    }
  }

  /**
   * Parses a line. Returns undefined if the line has errors. Also returns undefined for a pet in a line before
   * `fromLine`, because an interrupted import has handled this pet. A category in such a line is returned, because
   * later pets may refer to this category.
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
    const lines = await this.linesToCreate(group);
    const since = performance.now();
    await this.createAll(lines);
    this.outcome.nextLine = Math.max(this.outcome.nextLine, (group.at(-1)?.number ?? 0) + 1);
    // Pause for as long as the group took, so that the import uses at most half of the database's time.
    await pause(performance.now() - since, undefined, { signal: this.options.signal });
  }

  /**
   * Returns the lines of the group that have to be created. If the import starts at a later line (`fromLine`), the group
   * also has the categories of the lines before, because pets refer to these categories. An interrupted import has created
   * these categories, so this method finds their ids in the store and leaves them out.
   */
  private async linesToCreate(group: NumberedLine[]): Promise<NumberedLine[]> {
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

  /** Finds the newest category with each name in the store. Ignores categories that this import has created. */
  private async idsInStore(names: string[]): Promise<Map<string, NamedCategory>> {
    const statement = { text: CATEGORIES_BY_NAME, values: [[...new Set(names)]] };
    const rows = await this.services.database.query<NamedCategory>(statement);
    return new Map(rows.filter(({ id }) => !this.createdIds.has(id)).map((row) => [row.name, row]));
  }

  private async createAll(lines: NumberedLine[]): Promise<void> {
    const outcomes = await Promise.allSettled(lines.map((line) => this.create(line)));
    for (const [index, line] of lines.entries()) {
      const error = (outcomes[index] as PromiseRejectedResult).reason as Error | undefined;
      if (isDatabaseUnavailable(error)) {
        // The database failed, so it is not known whether the pet or category of this line was created. `createAgain` sends
        // the line again. If this fails as well, the import ends, and the operator can continue it at this line.
        this.outcome.nextLine = line.number;
        this.outcome.unknownTo = lines.at(-1)!.number;
        await this.createAgain(line);
        this.outcome.unknownTo = undefined;
      } else if (error !== undefined) {
        this.leaveOut(line.number, this.problemOf(line, error));
      }
    }
  }

  private problemOf({ kind }: NumberedLine, error: Error): string {
    return error instanceof IdempotencyKeyReusedError
      ? `has changed since import ${this.outcome.run} handled this line. Change the ${kind} in the store, or import the line without --run.`
      : error.message;
  }

  /**
   * Sends a line again after the database failed. The line's idempotency key prevents that the line is created twice.
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
   * Returns the name of a line's stored response (`IdempotencyRecord.name`). The name consists of the caller's id, a
   * space, and the line's idempotency key, which contains the id of the import and the number of the line.
   */
  private nameOf(line: string): string {
    return `${SERVICE_CALLER_ID} ${this.outcome.run} ${line}`;
  }

  /** Gives each line an idempotency key of its own, so that a line that is sent twice is created once. */
  private sourceOf({ number, ...content }: NumberedLine): CommandSource {
    const fingerprint = hash('sha256', JSON.stringify(content), 'base64url');
    const idempotent = new IdempotentRequest(this.nameOf(String(number)), fingerprint, 201);
    return { callerId: SERVICE_CALLER_ID, wrap: (command) => idempotent.wrap(command) };
  }

  private async create(line: NumberedLine): Promise<void> {
    const { categories, pets } = this.services;
    const { checkOnly } = this.options;
    if (line.kind === 'category') {
      const { kind: _kind, number: _number, id: idInFile, ...body } = line;
      const { id } = checkOnly ? { id: 0 } : await categories.create(body, this.sourceOf(line));
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
    // A new pet without stock is `sold`, not `available`.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    if (!checkOnly) {
      await pets.create({ ...body, categoryId, ...held }, this.sourceOf(line), quantity);
    }
    this.outcome.created.pets += 1;
  }
}

/**
 * Splits a file into lines. If a line is too long, the rest of the line is dropped, so that a long line does not fill
 * the memory.
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
