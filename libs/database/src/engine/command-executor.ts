import { type CommandEntry, type QueuedCommand, exclusiveRowsOf, runBatch } from './batch';
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
 * While a batch runs, a second batch starts as soon as this many commands wait, or as many as the running batch has, if
 * these are fewer. Smaller batches would cost more for each command.
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
  readonly commands: readonly QueuedCommand[];
  /**
   * The rows for which the batch waits if another transaction has locked these rows. Only a batch of commands that an
   * earlier batch has skipped has such rows. Empty for a batch of new commands.
   */
  readonly awaitedRows: readonly RowNeed[];
  /** The rows that the batch may change, which no other batch of this process may change at the same time. */
  readonly exclusiveRows: ReadonlySet<string>;
  readonly since: number;
}

/**
 * Runs commands in batches; the commands of a batch share one transaction. If the database refuses a statement, the batch is
 * split in halves, again and again, until only the command with the refused statement fails.
 */
export class CommandExecutor {
  private readonly queue = new FairQueue<CommandEntry>('Command', QUEUE, () => this.start());
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
    const wrapped: Command = source.wrap?.(command) ?? command;
    const exclusiveRows = exclusiveRowsOf(wrapped);
    return this.queue.add(source.callerId, { command: wrapped, exclusiveRows, awaitedRows: [] });
  }

  private start(): void {
    for (let commands = this.takeNext(); commands.length > 0; commands = this.takeNext()) {
      this.run(commands).catch((error: unknown) => commands.forEach(({ reject }) => reject(error)));
    }
  }

  private takeNext(): QueuedCommand[] {
    const commands = this.takeNew();
    return commands.length > 0 ? commands : this.takeSkipped();
  }

  /** Takes commands from the queue that no batch has skipped yet. Takes none if no further batch may start now. */
  private takeNew(): QueuedCommand[] {
    const running = this.running.filter(({ awaitedRows }) => awaitedRows.length === 0);
    const recent = startedRecently(running);
    const mayStart =
      recent.length < MAX_BATCHES &&
      running.length < MAX_BATCHES_WITH_SLOW &&
      recent.every(({ commands }) => this.queue.size >= Math.min(commands.length, MIN_SECOND_BATCH));
    return mayStart
      ? this.queue.take(({ item }) => !isSkipped(item) && !this.isBusy(item), MAX_COMMANDS)
      : [];
  }

  /**
   * Takes skipped commands from the queue: commands that an earlier batch could not run, because another transaction had
   * locked a row that they need. Takes only commands that wait for the same rows, so that their batch can wait for these rows
   * without delaying commands that need other rows.
   */
  private takeSkipped(): QueuedCommand[] {
    const waiting = this.running.filter(({ awaitedRows }) => awaitedRows.length > 0);
    const first = this.queue.find(({ item }) => isSkipped(item) && !this.isBusy(item));
    if (first === undefined || waiting.length >= this.maxWaitingBatches) {
      return [];
    }
    return this.queue.take(({ item }) => awaitSameRows(item, first.item) && !this.isBusy(item), MAX_COMMANDS);
  }

  /** True if another batch may be changing a row that the command changes. */
  private isBusy({ exclusiveRows }: CommandEntry): boolean {
    return exclusiveRows.some((row) => this.running.some((batch) => batch.exclusiveRows.has(row)));
  }

  private async run(commands: readonly QueuedCommand[]): Promise<void> {
    const batch: Batch = {
      commands,
      awaitedRows: commands[0]!.item.awaitedRows,
      exclusiveRows: new Set(commands.flatMap(({ item }) => item.exclusiveRows)),
      since: performance.now(),
    };
    this.running.push(batch);
    // Run the batch in the tracing context of its first request. Otherwise the spans of the batch would belong to the trace
    // of the request that happens to run at this moment.
    await commands[0]!.context.runInAsyncScope(() => this.attempt(commands, batch.awaitedRows));
    this.running = this.running.filter((other) => other !== batch);
    this.start();
  }

  /**
   * Runs the commands in one transaction. If PostgreSQL refuses a statement, runs each half of the commands in a
   * transaction of its own.
   */
  private async attempt(commands: readonly QueuedCommand[], awaitedRows: readonly RowNeed[]): Promise<void> {
    const { database, model } = this;
    const work = (session: Session) => {
      const state = new State(new Date(this.now()), model.afterCommand);
      return runBatch({ database, session, tables: model.tables, state, awaitedRows }, commands);
    };
    try {
      this.queue.putBack(await rollingBack(database, work));
    } catch (error) {
      if (commands.length === 1 || !isRefusedStatement(error)) {
        commands.forEach(({ reject }) => reject(error));
        return;
      }
      const half = Math.ceil(commands.length / 2);
      await this.attempt(commands.slice(0, half), awaitedRows);
      await this.attempt(commands.slice(half), awaitedRows);
    }
  }
}

function isSkipped({ awaitedRows }: CommandEntry): boolean {
  return awaitedRows.length > 0;
}

function awaitSameRows({ awaitedRows: rows }: CommandEntry, { awaitedRows: others }: CommandEntry): boolean {
  return rows.length === others.length && rows.every((row, at) => isSameNeed(row, others[at]!));
}

function isSameNeed(one: RowNeed, other: RowNeed): boolean {
  return one.entity === other.entity && one.id === other.id && one.lock === other.lock;
}
