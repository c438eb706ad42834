import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, type Origin, SERVICE, isDatabaseUnavailable } from '#libs/database';
import { ApiError } from '#libs/http';
import { AuditTrail } from '../audit';
import { PetsService, UnknownCategoryError } from '../pets';
import {
  CatalogueFormat,
  type CatalogueList,
  type CatalogueRecord,
  CatalogueSize,
  isPet,
  type ListLine,
  type PetLine,
} from './catalogue-format';

/** They share a transaction, as long as the database refuses none of them. */
const GROUP_LINES = 50;
/** As large as a request's body. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_REPORTED = 20;
/** The operator is no client. */
const ORIGIN: Origin = { owner: SERVICE };

export interface ImportOptions {
  /** Lines before this one are in the store already: what pets refer to is found by its name. */
  fromLine?: number;
  signal?: AbortSignal;
  /** Called before names are imported that the store has already; throws if the import must not go on. */
  onRepeated?(names: number, example: string): Promise<void>;
  /** Called with the number of lines read so far. */
  onLines?(lines: number): void;
}

/** How far an import has come. */
export interface ImportProgress {
  created: CatalogueSize;
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
    readonly format: CatalogueFormat,
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

  private async record({ created, badLines: linesLeftOut }: ImportProgress): Promise<void> {
    if (created.total > 0) {
      const entry = { action: 'catalogue.imported', details: { ...created.counts, linesLeftOut } } as const;
      await this.database.transaction((transaction) => this.trail.record(transaction, entry));
    }
  }
}

interface Line<Kind = CatalogueRecord> {
  number: number;
  record: Kind;
}

/** The newest entries of these names. SQL, because TypeORM groups no rows. */
function entriesByName({ plural: table }: CatalogueList): string {
  return `SELECT entry.name, max(id) AS id FROM unnest($1::text[]) AS asked (name)
    JOIN ${table} AS entry ON lower(entry.name) COLLATE "C" = lower(asked.name) AND entry.name = asked.name
    GROUP BY entry.name`;
}

/** One run of an import. */
class ImportRun {
  readonly progress: ImportProgress;
  private readonly fromLine: number;
  /** The entries of each list by the ids that the file has for them; with those of the store once they are there. */
  private readonly ids: ReadonlyMap<string, Map<number, number | undefined>>;
  /** Kind and id of those that it has made itself: a file may have a name twice. */
  private readonly created = new Set<string>();
  private linesRead = 0;
  /** How long it took to create the last group. */
  private writingMs = 0;
  private mayRepeat: boolean;

  constructor(
    private readonly store: ImportCatalogue,
    private readonly options: ImportOptions,
  ) {
    this.fromLine = options.fromLine ?? 1;
    const { format } = store;
    this.ids = new Map(format.lists.map(({ kind }) => [kind, new Map()]));
    const created = new CatalogueSize(format.kinds);
    this.progress = { created, nextLine: this.fromLine, badLines: 0, problems: [] };
    this.mayRepeat = options.onRepeated === undefined;
  }

  async whole(source: AsyncIterable<Buffer>): Promise<void> {
    const { signal } = this.options;
    for await (const group of this.groupsOf(linesOf(source))) {
      // Half of the time the processors and the database are free for others.
      await pause(this.writingMs, undefined, { signal });
      await this.write(group);
      signal?.throwIfAborted();
    }
  }

  /** Lines that follow each other and are of one kind. */
  private async *groupsOf(lines: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
    let group: Line[] = [];
    for await (const line of lines) {
      this.linesRead += 1;
      if (line.length > MAX_LINE_BYTES) {
        this.leaveOut(this.linesRead, `must be at most ${MAX_LINE_BYTES} bytes long.`);
        break;
      }
      const record = isBlank(line) ? undefined : this.recordOf(this.linesRead, line);
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
  private recordOf(number: number, line: Buffer): CatalogueRecord | undefined {
    const isEarlier = number < this.fromLine;
    const read = this.store.format.read(line);
    const problem = 'problem' in read ? read.problem : this.problemOf(read.record);
    if ('problem' in read || problem !== undefined) {
      if (!isEarlier) {
        this.leaveOut(number, problem!);
      }
      return undefined;
    }
    const { record } = read;
    if (!isPet(record)) {
      this.ids.get(record.kind)!.set(record.id, undefined);
    } else if (isEarlier) {
      return undefined;
    }
    return this.progress.badLines === 0 ? record : undefined;
  }

  private problemOf(record: CatalogueRecord): string | undefined {
    if (!isPet(record)) {
      const { kind, id } = record;
      return this.ids.get(kind)!.has(id) ? `id ${id} is the id of a ${kind} above.` : undefined;
    }
    return this.ids.get('category')!.has(record.categoryId)
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
    const list = this.store.format.listOf(group[0]?.record.kind);
    if (list === undefined) {
      await this.create('pets', group as Line<PetLine>[], (pet) => this.createPet(pet));
    } else {
      const service = this.store.format.serviceOf(list);
      const lines = await this.newOnes(list, group as Line<ListLine>[]);
      await this.create(list.plural, lines, async ({ kind, id: idInFile, ...body }) => {
        const { id } = await service.create(body, ORIGIN);
        this.ids.get(kind)!.set(idInFile, id);
        this.created.add(`${kind} ${id}`);
      });
    }
    progress.nextLine = Math.max(progress.nextLine, (group.at(-1)?.number ?? 0) + 1);
  }

  private async createPet({ kind: _kind, id: _id, quantity, ...body }: PetLine): Promise<void> {
    const categoryId = this.ids.get('category')!.get(body.categoryId);
    if (categoryId === undefined) {
      throw new UnknownCategoryError(body.categoryId);
    }
    // Nothing in stock and no open order: as the same requests would leave it.
    const held = quantity === 0 ? { status: 'sold' as const } : {};
    await this.store.pets.create({ ...body, categoryId, ...held }, ORIGIN, quantity);
  }

  /** Finds the entries of earlier lines, and asks before others get a name that is there already. */
  private async newOnes(list: CatalogueList, lines: Line<ListLine>[]): Promise<Line<ListLine>[]> {
    const names = lines.map(({ record }) => record.name);
    const statement = { text: entriesByName(list) };
    const rows = await this.store.database.query<{ name: string; id: number }>(statement, [names]);
    const known = new Map(
      rows.flatMap(({ name, id }) => (this.created.has(`${list.kind} ${id}`) ? [] : [[name, id] as const])),
    );
    const others = lines.filter(({ number }) => number >= this.fromLine);
    for (const { number, record } of lines) {
      if (number < this.fromLine) {
        this.ids.get(list.kind)!.set(record.id, known.get(record.name));
      }
    }
    const [example, ...more] = others.flatMap(({ record }) => (known.has(record.name) ? record.name : []));
    if (example !== undefined && !this.mayRepeat) {
      await this.options.onRepeated?.(more.length + 1, example);
      this.mayRepeat = true;
    }
    return others;
  }

  /** What the store or the database refuses is reported as a bad line. */
  private async create<Kind>(
    plural: string,
    lines: Line<Kind>[],
    one: (record: Kind) => Promise<void>,
  ): Promise<void> {
    const { counts } = this.progress.created;
    const since = performance.now();
    const outcomes = await Promise.allSettled(lines.map(({ record }) => one(record)));
    this.writingMs = performance.now() - since;
    const failed = outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [{ line: lines[index]!, error: outcome.reason as Error }] : [],
    );
    const created = lines.length - failed.length;
    counts[plural]! += created;
    for (const { line, error } of failed) {
      if (created === 0 && !(error instanceof ApiError && error.status < 500)) {
        throw error;
      }
      if (isDatabaseUnavailable(error)) {
        // Others of the group are in the store, so this line is tried alone: if it fails, the import ends before it.
        this.progress.nextLine = line.number;
        await one(line.record);
        counts[plural]! += 1;
      } else {
        this.leaveOut(line.number, error.message);
      }
    }
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

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
