import { type Entry, type QueuedCommand, exclusiveRowsOf, runBatch } from './batch';
import { FairQueue, startedRecently } from './queue';
import { isRefusedStatement } from './postgres-errors';
import type { Session } from './session';
import { type Command, type Entity, type CommandSource, type RowNeed, State } from './state';
import { type EngineDatabase, rollingBack } from './transaction';

/**
 * Maximum number of batches that run at a time. With two, one batch can execute statements while the other batch waits for
 * the disk. If batches have been running for more than 100 ms, up to MAX_BATCHES_WITH_SLOW batches run at a time.
 */
const MAX_BATCHES = 2;
const MAX_BATCHES_WITH_SLOW = 4;
const MAX_COMMANDS = 150;
/**
 * While a batch runs, a second batch starts as soon as this many commands wait. Smaller batches would cost more for
 * each command.
 */
const MIN_SECOND_BATCH = 50;
/** The share of the connection pool that batches may use while they wait for locked rows. */
const WAITING_SHARE = 1 / 4;
const QUEUE = { max: 10_000, maxOfCaller: 3_000, timeoutMs: 10_000 };

export interface WriteModel {
  /**
   * The entities whose rows commands change. Rows are locked and written in the order of this list, which has parents
   * before children.
   */
  readonly tables: readonly Entity[];
  /** Called after each command, for example to record the command's changes in the event feed. */
  readonly afterCommand: (state: State) => void;
}

interface Batch {
  entries: QueuedCommand[];
  /** The rows for which the batch waits if another transaction has locked these rows. */
  awaited: readonly RowNeed[];
  /** The rows that the batch may change, which no other batch of this process may change at the same time. */
  exclusiveRows: ReadonlySet<string>;
  since: number;
}

/**
 * Runs commands in batches; the commands of a batch share one transaction. If the database refuses a statement, the batch is
 * split in halves, again and again, until only the command with the refused statement fails.
 */
export class CommandExecutor {
  private readonly queue = new FairQueue<Entry>('Command', QUEUE, () => this.start());
  private running: Batch[] = [];
  private readonly maxWaitingBatches: number;

  constructor(
    private readonly database: EngineDatabase,
    private readonly model: WriteModel,
    private readonly now: () => number,
  ) {
    this.maxWaitingBatches = Math.max(1, Math.floor(database.poolSize * WAITING_SHARE));
  }

  /**
   * @returns the result of the command, after the commit
   * @throws the error that rejected the command; OverloadedError if the queue is full or the command waits for too long
   */
  execute<Result>(source: CommandSource, command: Command<Result>): Promise<Result> {
    return this.queue.add(source.callerId, { command: source.wrap?.(command) ?? command, awaited: [] });
  }

  private start(): void {
    for (let entries = this.takeFree(); entries.length > 0; entries = this.takeFree()) {
      this.begin(entries);
    }
    for (let entries = this.takeHeld(); entries.length > 0; entries = this.takeHeld()) {
      this.begin(entries, entries[0]!.awaited);
    }
  }

  private begin(entries: QueuedCommand[], awaited: readonly RowNeed[] = []): void {
    this.run(entries, awaited).catch((error: unknown) => entries.forEach(({ reject }) => reject(error)));
  }

  /** Takes commands that no earlier batch has skipped because of a locked row. */
  private takeFree(): QueuedCommand[] {
    const running = this.running.filter(({ awaited }) => awaited.length === 0);
    const recent = startedRecently(running);
    const isFree =
      recent.length < MAX_BATCHES &&
      running.length < MAX_BATCHES_WITH_SLOW &&
      recent.every(({ entries }) => this.queue.size >= Math.min(entries.length, MIN_SECOND_BATCH));
    return isFree
      ? this.queue.take((entry) => entry.awaited.length === 0 && !this.isBusy(entry), MAX_COMMANDS)
      : [];
  }

  /**
   * Takes a command that an earlier batch has skipped because another transaction had locked a row, and all commands that
   * wait for the same rows. Their batch can wait for these rows without delaying commands that need other rows.
   */
  private takeHeld(): QueuedCommand[] {
    const running = this.running.filter(({ awaited }) => awaited.length > 0);
    const first = this.queue.find((entry) => entry.awaited.length > 0 && !this.isBusy(entry));
    if (first === undefined || running.length >= this.maxWaitingBatches) {
      return [];
    }
    const isNext = (entry: Entry) => isSame(entry.awaited, first.awaited) && !this.isBusy(entry);
    return this.queue.take(isNext, MAX_COMMANDS);
  }

  private isBusy({ command }: Entry): boolean {
    return (
      this.running.length > 0 &&
      exclusiveRowsOf(command).some((row) => this.running.some(({ exclusiveRows }) => exclusiveRows.has(row)))
    );
  }

  private async run(entries: QueuedCommand[], awaited: readonly RowNeed[]): Promise<void> {
    const exclusiveRows = new Set(entries.flatMap(({ command }) => exclusiveRowsOf(command)));
    const batch = { entries, awaited, exclusiveRows, since: performance.now() };
    this.running.push(batch);
    // Run the batch in the tracing context of its first request. Otherwise the spans of the batch would belong to the trace
    // of the request that happens to run at this moment.
    await entries[0]!.context.runInAsyncScope(() => this.attempt(entries, awaited));
    this.running = this.running.filter((other) => other !== batch);
    this.start();
  }

  /**
   * Runs the commands in one transaction. If PostgreSQL refuses a statement, runs each half of the commands in a
   * transaction of its own.
   */
  private async attempt(entries: QueuedCommand[], awaited: readonly RowNeed[]): Promise<void> {
    const work = (session: Session) => {
      const { database, model } = this;
      const state = new State(new Date(this.now()), model.afterCommand);
      return runBatch({ database, session, tables: model.tables, state, awaited }, entries);
    };
    try {
      this.queue.putBack(await rollingBack(this.database, work));
    } catch (error) {
      if (entries.length === 1 || !isRefusedStatement(error)) {
        entries.forEach(({ reject }) => reject(error));
        return;
      }
      const half = Math.ceil(entries.length / 2);
      await this.attempt(entries.slice(0, half), awaited);
      await this.attempt(entries.slice(half), awaited);
    }
  }
}

function isSame(rows: readonly RowNeed[], others: readonly RowNeed[]): boolean {
  return rows.length === others.length && rows.every((row, at) => isSameNeed(row, others[at]!));
}

function isSameNeed(one: RowNeed, other: RowNeed): boolean {
  return one.entity === other.entity && one.id === other.id && one.lock === other.lock;
}
