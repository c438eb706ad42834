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
import {
  type CatalogueCounts,
  type CatalogueLine,
  type CategoryLine,
  type PetLine,
  lineOf,
  linesOf,
  parseObject,
} from './catalogue-format';

/** Maximum number of lines that are sent to the store together, as many as one transaction takes (`MAX_COMMANDS`). */
const GROUP_LINES = 150;
const MAX_REPORTED = 20;
const NOT_JSON =
  'must be a JSON object in UTF-8; it ends too early, or has an unexpected character or another encoding.';
/** How many times a line is sent again while the database is unavailable, with PAUSE_MS between two attempts. */
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
   * The id of an interrupted import, which this import continues. Pets and categories that the interrupted import has
   * created are not created again, unless 24 hours have passed, after which the store has forgotten its lines.
   */
  runId?: string;
  checkOnly?: boolean;
  signal?: AbortSignal;
  /**
   * Called once, before the import creates a category with a name that the store already has. If the callback throws an
   * error, the import ends and does not create the category.
   */
  onRepeated?(names: number, example: string): Promise<void>;
  onLines?(lines: number): void;
}

export interface ImportOutcome {
  created: CatalogueCounts;
  /**
   * The line at which an interrupted import can continue. The pets and categories of all earlier lines are in the
   * store, except those of lines with errors.
   */
  nextLine: number;
  badLines: number;
  problems: { line: number; problem: string }[];
  isNdjson: boolean;
  /**
   * A random id of the import, which is part of each line's idempotency key. With this key, the store creates the pet or
   * category of a line once, even if the line is sent twice.
   */
  runId: string;
  /** Set only if the database failed. The lines from `nextLine` to `unknownTo` may then be in the store or not. */
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
    private readonly database: Database,
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly trail: AuditTrail,
  ) {}

  async importFrom(source: AsyncIterable<Buffer>, options: ImportOptions = {}): Promise<ImportOutcome> {
    const run = new ImportRun(this.database, this.categories, this.pets, options);
    const { outcome } = run;
    try {
      await run.importLines(source);
    } catch (error) {
      outcome.error = (options.signal?.aborted ? options.signal.reason : error) as Error;
    }
    // Record the import even if it failed, because some pets or categories may have been created.
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

type NumberedCategory = CategoryLine & { number: number };
type NumberedPet = PetLine & { number: number };
type NumberedLine = NumberedCategory | NumberedPet;

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

/** Stands for the id of a category that a check of a file (`checkOnly`) does not create. */
const NOT_CREATED = 0;

class ImportRun {
  readonly outcome: ImportOutcome;
  private readonly fromLine: number;
  /** Maps ids of categories in the file to ids in the store, or to undefined until a category is created or found. */
  private readonly categoryIds = new Map<number, number | undefined>();
  private readonly createdIds = new Set<number>();
  private readonly earlierNames = new Set<string>();
  /**
   * Asks the operator before the import creates categories with names that the store already has. Undefined if the
   * import only checks the file (`checkOnly`) and creates nothing. Also undefined if the import continues an
   * interrupted import (`runId`), which may have created these categories itself.
   */
  private askOnce: ImportOptions['onRepeated'];

  constructor(
    private readonly database: Database,
    private readonly categories: CategoriesService,
    private readonly pets: PetsService,
    private readonly options: ImportOptions,
  ) {
    const { fromLine = 1, runId, checkOnly, onRepeated } = options;
    this.fromLine = fromLine;
    this.askOnce = checkOnly || runId !== undefined ? undefined : onRepeated;
    this.outcome = {
      created: { categories: 0, pets: 0 },
      nextLine: fromLine,
      badLines: 0,
      problems: [],
      isNdjson: false,
      runId: runId ?? randomUUID(),
    };
  }

  async importLines(source: AsyncIterable<Buffer>): Promise<void> {
    if (this.options.runId !== undefined) {
      await this.assertRunIsKnown();
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

  private async assertRunIsKnown(): Promise<void> {
    const responses = await this.database.query({ text: ANY_RESPONSE, values: [this.nameOf('')] });
    if (responses.length === 0) {
      const message = `The store has no line of import ${this.outcome.runId} from the last 24 hours. To begin a new import, leave out --run.`;
      throw new OperatorError(message, 'unknown_run');
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
    const object = parseObject(text);
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

  /** Imports a group of lines, which are either all categories or all pets. */
  private async importGroup(group: NumberedLine[]): Promise<void> {
    const categories = group.filter((line) => line.kind === 'category');
    const earlier = categories.filter(({ number }) => number < this.fromLine);
    await this.findEarlierCategories(earlier);
    await this.confirmRepeatedNames(categories.slice(earlier.length));
    const since = performance.now();
    await this.createAll(group.slice(earlier.length));
    this.outcome.nextLine = Math.max(this.outcome.nextLine, (group.at(-1)?.number ?? 0) + 1);
    // Pause for as long as the group took, so that the import uses at most half of the database's time.
    await pause(performance.now() - since, undefined, { signal: this.options.signal });
  }

  /**
   * Finds the ids in the store of categories in lines before `fromLine`. An interrupted import has created these
   * categories, and pets in later lines refer to these categories.
   */
  private async findEarlierCategories(earlier: NumberedCategory[]): Promise<void> {
    const inStore = await this.categoriesInStore(earlier);
    for (const { id, name, number } of earlier) {
      const { id: idInStore, count = 0 } = inStore.get(name) ?? {};
      if (count > 1 || this.earlierNames.has(name)) {
        throw new OperatorError(ambiguousNameMessage(number, name, count), 'ambiguous_category');
      }
      this.earlierNames.add(name);
      this.categoryIds.set(id, idInStore);
    }
  }

  /** Asks the operator, once, if the import would create categories with names that the store already has. */
  private async confirmRepeatedNames(categories: NumberedCategory[]): Promise<void> {
    if (this.askOnce === undefined) {
      return;
    }
    const inStore = await this.categoriesInStore(categories);
    const [example, ...more] = categories.filter(({ name }) => inStore.has(name));
    if (example !== undefined) {
      await this.askOnce(more.length + 1, example.name);
      this.askOnce = undefined;
    }
  }

  /**
   * Returns the categories in the store with the names of the given categories, by name. If the store has several
   * categories with a name, returns the newest. Leaves a category out if this import has created it.
   */
  private async categoriesInStore(categories: NumberedCategory[]): Promise<Map<string, NamedCategory>> {
    if (categories.length === 0) {
      return new Map();
    }
    const names = new Set(categories.map(({ name }) => name));
    const statement = { text: CATEGORIES_BY_NAME, values: [[...names]] };
    const rows = await this.database.query<NamedCategory>(statement);
    return new Map(rows.filter(({ id }) => !this.createdIds.has(id)).map((row) => [row.name, row]));
  }

  private async createAll(lines: NumberedLine[]): Promise<void> {
    const outcomes = await Promise.allSettled(lines.map((line) => this.create(line)));
    for (const [index, line] of lines.entries()) {
      const error = (outcomes[index] as PromiseRejectedResult).reason as Error | undefined;
      if (isDatabaseUnavailable(error)) {
        // The database failed, so the line's pet or category may have been created. Send the line again. If this fails as
        // well, the import ends, and the operator can continue the import at this line.
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
      ? `has changed since import ${this.outcome.runId} handled this line. Change the ${kind} in the store, or import the line without --run.`
      : error.message;
  }

  /**
   * Sends a line again after the database failed. The line's idempotency key prevents that the pet or category is
   * created twice.
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
    return `${SERVICE_CALLER_ID} ${this.outcome.runId} ${line}`;
  }

  /**
   * Returns the source for the command that creates the pet or category of a line. The source gives each line an
   * idempotency key of its own, so that a line that is sent twice takes effect once.
   */
  private sourceOf({ number, ...content }: NumberedLine): CommandSource {
    const fingerprint = hash('sha256', JSON.stringify(content), 'base64url');
    const idempotent = new IdempotentRequest(this.nameOf(String(number)), fingerprint, 201);
    return { callerId: SERVICE_CALLER_ID, wrap: (command) => idempotent.wrap(command) };
  }

  private async create(line: NumberedLine): Promise<void> {
    const { checkOnly } = this.options;
    if (line.kind === 'category') {
      this.categoryIds.set(line.id, checkOnly ? NOT_CREATED : await this.createCategory(line));
      this.outcome.created.categories += 1;
      return;
    }
    const categoryId = this.categoryIds.get(line.categoryId);
    if (categoryId === undefined) {
      throw new UnknownCategoryError(line.categoryId);
    }
    if (!checkOnly) {
      await this.createPet(line, categoryId);
    }
    this.outcome.created.pets += 1;
  }

  /** Creates a category, and returns its id in the store. */
  private async createCategory(line: NumberedCategory): Promise<number> {
    const { kind: _kind, number: _number, id: _id, ...body } = line;
    const { id } = await this.categories.create(body, this.sourceOf(line));
    this.createdIds.add(id);
    return id;
  }

  private async createPet(line: NumberedPet, categoryId: number): Promise<void> {
    const { kind: _kind, number: _number, id: _id, quantity, ...body } = line;
    // Create a pet without stock as `sold`, even if the line has another status, because a pet with neither stock nor
    // open orders is sold.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    await this.pets.create({ ...body, categoryId, ...held }, this.sourceOf(line), quantity);
  }
}
