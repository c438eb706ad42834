import type { EntityTable, Locking } from './entity-table';
import { ConcurrencyLimiter, FairQueue } from './queue';
import { isRefusedStatement } from './postgres-errors';
import { type Session, withRetries } from './session';
import { Batch, type Entry, type QueuedCommand, type Tables, entryFor } from './batch';
import { type Command, type Entity, type Origin, State } from './state';

/** One batch works while the other waits for the disk. With more, batches would be smaller. */
const MAX_BATCHES = 2;
/** Commands per transaction, limited to keep latency low. */
const MAX_BATCH = 150;
/**
 * Beside a batch another starts once as many commands wait, held ones included, or this many, or after 100 ms. Clients whose
 * answers were just sent come back over several turns of the event loop, and alone in a transaction a command costs six times
 * as much as among thirty.
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

/**
 * Runs commands in batches: concurrent commands share one transaction. A command is answered after the commit. If the
 * database rejects a batch, it is split in half until the failing command is alone, so that no command fails because of
 * another. Two batches of this process never work on the same row. Commands on rows that another transaction has locked
 * wait in their own batch.
 */
export class CommandExecutor {
  private readonly queue = new FairQueue<Entry>('Command', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.takeBatch(), MAX_BATCHES);
  private readonly heldLimiter: ConcurrencyLimiter;
  private readonly tables: Tables;
  /** The rows that each running batch works on. */
  private busy: ReadonlySet<string>[] = [];

  /** @param now the time in milliseconds, for what commands write */
  constructor(
    private readonly database: Connections,
    private readonly model: WriteModel,
    private readonly now: () => number,
  ) {
    this.tables = { order: model.tables, of: (entity) => database.table(entity) };
    const most = Math.max(1, Math.floor(database.poolSize * WAITING_SHARE));
    this.heldLimiter = new ConcurrencyLimiter(() => this.takeBatch(), most, most);
  }

  /**
   * Runs a command.
   * @returns the command's result, after the commit
   * @throws the command's error; OverloadedError if the queue is full, or nobody takes the command in time
   */
  execute<Result>(origin: Origin, command: Command<Result>): Promise<Result> {
    const wrapped = origin.wrap?.(command) ?? command;
    const result = this.queue.add<Result>(origin.owner, entryFor(wrapped, origin));
    this.limiter.soon();
    return result;
  }

  private takeBatch(): void {
    while (this.limiter.isFreeFor(this.queue.size)) {
      const entries = this.queue.take(
        (entry) => entry.heldRow === undefined && this.isFree(entry),
        MAX_BATCH,
      );
      if (entries.length === 0) {
        break;
      }
      void this.limiter.run(entries[0]!.context, () => this.work(entries, 'skip'), {
        minWaiting: Math.min(entries.length, ENOUGH),
      });
    }
    this.takeHeld();
  }

  /** Those who wait for the same row do so together, and for no other. */
  private takeHeld(): void {
    while (this.heldLimiter.isFree) {
      let row: string | undefined;
      const entries = this.queue.take((entry) => {
        const isNext = entry.heldRow !== undefined && this.isFree(entry);
        row ??= isNext ? entry.heldRow : undefined;
        return isNext && entry.heldRow === row;
      }, MAX_BATCH);
      if (entries.length === 0) {
        break;
      }
      void this.heldLimiter.run(entries[0]!.context, () => this.work(entries, 'wait'));
    }
  }

  /** True if no running batch works on a row that the command needs for itself. */
  private isFree({ exclusiveRows }: Entry): boolean {
    return !exclusiveRows.some((row) => this.busy.some((rows) => rows.has(row)));
  }

  private async work(entries: QueuedCommand[], whenLocked: Locking['whenLocked']): Promise<void> {
    const rows = new Set(entries.flatMap(({ exclusiveRows }) => exclusiveRows));
    this.busy.push(rows);
    await this.attempt(entries, whenLocked);
    this.busy = this.busy.filter((others) => others !== rows);
  }

  /** Settles the commands; skipped ones return to the queue. */
  private async attempt(entries: QueuedCommand[], whenLocked: Locking['whenLocked']): Promise<void> {
    try {
      this.queue.putBack(
        await withRetries(() =>
          this.database.session((session) => this.runTransaction(session, entries, whenLocked)),
        ),
      );
    } catch (error) {
      if (entries.length === 1 || !isRefusedStatement(error)) {
        entries.forEach((entry) => fail(entry, error));
        return;
      }
      const half = Math.ceil(entries.length / 2);
      await this.attempt(entries.slice(0, half), whenLocked);
      await this.attempt(entries.slice(half), whenLocked);
    }
  }

  private async runTransaction(
    session: Session,
    entries: QueuedCommand[],
    whenLocked: Locking['whenLocked'],
  ): Promise<QueuedCommand[]> {
    const state = new State(new Date(this.now()), this.model.afterCommand);
    return new Batch(session, this.tables, entries, whenLocked, state).execute();
  }
}

function fail({ command, reject }: QueuedCommand, error: unknown): void {
  try {
    reject(command.translateViolation?.(error) ?? error);
  } catch (mistake) {
    reject(mistake);
  }
}
