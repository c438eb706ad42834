import { Global, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from '#libs/clock';
import { ConcurrencyLimiter, FairQueue } from '../queue';
import { Database } from '../database';
import { isRefusedStatement } from '../postgres-errors';
import { RetentionModule } from '../retention';
import { withRetries } from '../session';
import { Batch, type Entry, type QueuedCommand, entryFor } from './batch';
import { EXPIRED, IdempotencyRecord, KeyInUseError } from './idempotency-records';
import { type Command, type Origin, Participants, State } from './state';

/** One batch works while the other waits for the disk. With more, batches would be smaller. */
const AT_ONCE = 2;
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

/**
 * Runs commands in batches: concurrent commands share one transaction. A command is answered after the commit. If the
 * database rejects a batch, it is split in half until the failing command is alone, so that no command fails because of
 * another. Two batches of this process never work on the same row. Commands on rows that another transaction has locked
 * wait in their own batch.
 */
@Injectable()
export class CommandExecutor {
  private readonly queue = new FairQueue<Entry>('Command', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.takeBatch(), AT_ONCE);
  private readonly heldLimiter: ConcurrencyLimiter;
  /** The rows that each running batch works on. */
  private busy: ReadonlySet<string>[] = [];
  /** The Idempotency-Keys of unfinished commands. */
  private readonly usedKeys = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly participants: Participants,
  ) {
    const most = Math.max(1, Math.floor(database.poolSize * WAITING_SHARE));
    this.heldLimiter = new ConcurrencyLimiter(() => this.takeBatch(), most, most);
  }

  /**
   * Runs a command.
   * @returns the command's result, after the commit; for a repeated Idempotency-Key the original one
   * @throws the command's error; KeyInUseError, KeyReusedError; an error like that of an unavailable database if the queue is full
   */
  async run<Result>(command: Command<Result>, origin: Origin): Promise<Result> {
    const { use } = origin;
    if (use === undefined) {
      return this.enqueue(command, origin);
    }
    const name = `${use.owner} ${use.key}`;
    use.sent = true;
    if (this.usedKeys.has(name)) {
      throw new KeyInUseError();
    }
    this.usedKeys.add(name);
    try {
      return await this.enqueue(command, origin);
    } finally {
      this.usedKeys.delete(name);
    }
  }

  private enqueue<Result>(command: Command<Result>, origin: Origin): Promise<Result> {
    const result = this.queue.add<Result>(origin.owner, entryFor(command, origin));
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

  private async work(entries: QueuedCommand[], locked: 'wait' | 'skip'): Promise<void> {
    const rows = new Set(entries.flatMap(({ exclusiveRows }) => exclusiveRows));
    this.busy.push(rows);
    await this.attempt(entries, locked);
    this.busy = this.busy.filter((others) => others !== rows);
  }

  /** Settles the commands; skipped ones return to the queue. */
  private async attempt(entries: QueuedCommand[], locked: 'wait' | 'skip'): Promise<void> {
    try {
      this.queue.putBack(await withRetries(() => this.runTransaction(entries, locked)));
    } catch (error) {
      if (entries.length === 1 || !isRefusedStatement(error)) {
        entries.forEach(({ command, reject }) => reject(command.explain?.(error) ?? error));
        return;
      }
      const half = Math.ceil(entries.length / 2);
      await this.attempt(entries.slice(0, half), locked);
      await this.attempt(entries.slice(half), locked);
    }
  }

  private runTransaction(entries: QueuedCommand[], locked: 'wait' | 'skip') {
    const { database, participants } = this;
    const state = new State(new Date(this.clock.now()), (decided) => participants.decided(decided));
    const { entities } = participants;
    return database.session((session) =>
      new Batch(session, database, entities, entries, locked, state).run(),
    );
  }
}

/** The changes that callers make go through this module. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([IdempotencyRecord]),
    RetentionModule.keep({ table: 'idempotency_records', expired: () => EXPIRED, everyMs: 600_000 }),
  ],
  providers: [CommandExecutor],
  exports: [CommandExecutor],
})
export class CommandsModule {}
