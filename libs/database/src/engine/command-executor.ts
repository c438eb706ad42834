import { type Entry, type QueuedCommand, type Tables, exclusiveRowsOf, runBatch } from './batch';
import type { EntityTable } from './entity-table';
import { FairQueue, promptOf } from './queue';
import { isRefusedStatement, withRetries } from './postgres-errors';
import type { Session } from './session';
import { type Command, type Entity, type Origin, type RowNeed, State } from './state';

/** One batch works while the other waits for the disk. With more, batches would be smaller. */
const MAX_BATCHES = 2;
const MAX_BATCHES_WITH_SLOW = 4;
/** Commands per transaction, limited to keep latency low. */
const MAX_BATCH = 150;
/**
 * Beside a batch another starts once as many commands wait, held ones included, or this many. Clients whose answers were just
 * sent come back over several turns of the event loop, and alone in a transaction a command costs six times as much as among
 * thirty.
 */
const ENOUGH = 50;
/** Share of the connection pool for batches that wait for locked rows. */
const WAITING_SHARE = 1 / 4;
/** Queue limits, in total and per client. */
const QUEUE = { max: 10_000, maxOfOwner: 3_000, timeoutMs: 10_000 };

/** What the executor needs of a database. */
interface Connections {
  /** Maximum number of connections. */
  readonly poolSize: number;
  /** Runs work on a connection of its own. */
  session<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  table(entity: Entity): EntityTable<object>;
}

/** What all writes have in common. */
export interface WriteModel {
  /** The entities whose rows commands change, parents before children: rows are locked and written in this order. */
  readonly tables: readonly Entity[];
  /** Called after each command; reads what it changed, and may add to journals. */
  readonly afterCommand: (state: State) => void;
}

/** Commands that share a transaction. */
interface Batch {
  entries: QueuedCommand[];
  /** The row that the batch waits for, if another transaction has locked one. */
  awaited: RowNeed | undefined;
  /** No other batch works on these. */
  rows: ReadonlySet<string>;
  since: number;
}

/**
 * Runs commands in batches: concurrent commands share one transaction. A command is answered after the commit. If the
 * database rejects a batch, it is split in half until the failing command is alone, so that no command fails because of
 * another. Two batches of this process never work on the same row. Commands on rows that another transaction has locked
 * wait in their own batch.
 */
export class CommandExecutor {
  private readonly queue = new FairQueue<Entry>('Command', QUEUE, () => this.start());
  private running: Batch[] = [];
  private readonly tables: Tables;
  private readonly maxHeld: number;

  /** @param now the time in milliseconds, for what commands write */
  constructor(
    private readonly database: Connections,
    private readonly model: WriteModel,
    private readonly now: () => number,
  ) {
    this.tables = { order: model.tables, of: (entity) => database.table(entity) };
    this.maxHeld = Math.max(1, Math.floor(database.poolSize * WAITING_SHARE));
  }

  /**
   * Runs a command.
   * @returns the command's result, after the commit
   * @throws the command's error; OverloadedError if the queue is full, or nobody takes the command in time
   */
  execute<Result>(origin: Origin, command: Command<Result>): Promise<Result> {
    return this.queue.add(origin.owner, { command: origin.wrap?.(command) ?? command });
  }

  private start(): void {
    for (let entries = this.takeFree(); entries.length > 0; entries = this.takeFree()) {
      this.begin(entries);
    }
    for (let entries = this.takeHeld(); entries.length > 0; entries = this.takeHeld()) {
      this.begin(entries, entries[0]!.heldRow);
    }
  }

  private begin(entries: QueuedCommand[], awaited?: RowNeed): void {
    this.run(entries, awaited).catch((error: unknown) => entries.forEach((entry) => fail(entry, error)));
  }

  private takeFree(): QueuedCommand[] {
    const running = this.running.filter(({ awaited }) => awaited === undefined);
    const prompt = promptOf(running);
    const isFree =
      prompt.length < MAX_BATCHES &&
      running.length < MAX_BATCHES_WITH_SLOW &&
      prompt.every(({ entries }) => this.queue.size >= Math.min(entries.length, ENOUGH));
    return isFree ? this.queue.take((entry) => !entry.heldRow && !this.isBusy(entry), MAX_BATCH) : [];
  }

  /** Takes commands that wait for the same lock of the same row. Their batch waits for no other row. */
  private takeHeld(): QueuedCommand[] {
    const running = this.running.filter(({ awaited }) => awaited !== undefined);
    let first: RowNeed | undefined;
    const isNext = (entry: Entry): boolean => {
      const { heldRow } = entry;
      const isTaken = heldRow !== undefined && isSameNeed(heldRow, first ?? heldRow) && !this.isBusy(entry);
      first = isTaken ? heldRow : first;
      return isTaken;
    };
    return running.length < this.maxHeld ? this.queue.take(isNext, MAX_BATCH) : [];
  }

  /** True if a running batch works on a row that the command needs for itself. */
  private isBusy({ command }: Entry): boolean {
    return (
      this.running.length > 0 &&
      exclusiveRowsOf(command).some((row) => this.running.some(({ rows }) => rows.has(row)))
    );
  }

  private async run(entries: QueuedCommand[], awaited?: RowNeed): Promise<void> {
    const rows = new Set(entries.flatMap(({ command }) => exclusiveRowsOf(command)));
    const batch = { entries, awaited, rows, since: performance.now() };
    this.running.push(batch);
    // The batch belongs to the trace of its first request, not of the request whose end has made the batch start.
    await entries[0]!.context.runInAsyncScope(() => this.attempt(entries, awaited));
    this.running = this.running.filter((other) => other !== batch);
    this.start();
  }

  /** Settles the commands; skipped ones return to the queue. */
  private async attempt(entries: QueuedCommand[], awaited?: RowNeed): Promise<void> {
    const work = (session: Session) => {
      const state = new State(new Date(this.now()), this.model.afterCommand);
      return runBatch({ session, tables: this.tables, state, awaited }, entries);
    };
    try {
      this.queue.putBack(await withRetries(() => this.database.session(work)));
    } catch (error) {
      if (entries.length === 1 || !isRefusedStatement(error)) {
        entries.forEach((entry) => fail(entry, error));
        return;
      }
      const half = Math.ceil(entries.length / 2);
      await this.attempt(entries.slice(0, half), awaited);
      await this.attempt(entries.slice(half), awaited);
    }
  }
}

function isSameNeed(one: RowNeed, other: RowNeed): boolean {
  return one.row === other.row && one.id === other.id && one.lock === other.lock;
}

function fail({ command, reject }: QueuedCommand, error: unknown): void {
  try {
    reject(command.translateViolation?.(error) ?? error);
  } catch (mistake) {
    reject(mistake);
  }
}
