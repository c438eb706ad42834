import { AsyncResource } from 'node:async_hooks';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { ConcurrencyLimiter } from '../concurrency-limiter';
import { Database, withRetries } from '../database';
import { isRefusedStatement } from '../postgres-errors';
import { ServiceUnavailableError } from '#libs/http';
import { Batch } from './batch';
import { type Entry, workedOn } from './batch-loader';
import type { Command, Origin } from './command';
import { FairQueue } from '../fair-queue';
import { IdempotencyInProgressError } from './idempotency-records';
import { BatchState, type Consequence, type Entity } from './state';

/** One batch works while the other waits for the disk. With more, batches would be smaller. */
const AT_ONCE = 2;
/** Commands per transaction, limited to keep latency low. */
const MAX_BATCH = 150;
/** Share of the connection pool for batches that wait for locked rows. */
const WAITING_SHARE = 1 / 4;
/** Queue limits, in total and per client. Beyond them a command is rejected with 503. */
const QUEUE = { max: 10_000, maxOfOwner: 3_000 };
/** A command that has waited this long is rejected with 503. */
const QUEUE_TIMEOUT_MS = 10_000;

interface Waiting extends Entry, ReturnType<typeof workedOn> {
  owner: number;
  since: number;
  /** The context of the request. A batch runs in that of its first. */
  caller: AsyncResource;
}

/**
 * Runs commands in batches: concurrent commands share one transaction. A command is answered after the commit. If the
 * database rejects a batch, it is split in half until the failing command is alone, so that no command fails because of
 * another. Two batches of this process never work on the same row. Commands on rows that another transaction has locked
 * wait in their own batch.
 */
@Injectable()
export class CommandExecutor implements OnModuleDestroy {
  private readonly queue = new FairQueue<Waiting>(QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.takeBatch(), AT_ONCE);
  private readonly heldLimiter: ConcurrencyLimiter;
  /** Rows locked by other transactions, in order of discovery, and whether a batch is waiting for them. */
  private readonly held = new Map<string, boolean>();
  /** The rows that running batches work on. */
  private readonly busy = new Set<string>();
  /** The Idempotency-Keys of unfinished commands. */
  private readonly usedKeys = new Set<string>();
  private consequences = new Map<Entity, Consequence>();
  private expiry?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    const most = Math.max(1, Math.floor(database.poolSize * WAITING_SHARE));
    this.heldLimiter = new ConcurrencyLimiter(() => this.takeBatch(), most, most);
  }

  onModuleDestroy(): void {
    this.stopExpiry();
  }

  /**
   * Registers a consequence that runs in the same transaction whenever a row of the entity changes. Children come
   * before parents.
   */
  onChange<Row extends object>(entity: Entity<Row>, entail: Consequence<Row>): void {
    const all = new Map(this.consequences).set(entity, entail as Consequence);
    const place = ([one]: [Entity, Consequence]): number => this.database.entities.indexOf(one);
    this.consequences = new Map([...all].sort((a, b) => place(b) - place(a)));
  }

  /**
   * Runs a command.
   * @returns the command's answer, after the commit; for a repeated Idempotency-Key the original answer
   * @throws ApiError the command's error; 503 if the queue is full or the database is unavailable
   */
  run<Answer>(command: Command<Answer>, origin: Origin): Promise<Answer> {
    return origin.use === undefined ? this.enqueue(command, origin) : this.runOnce(command, origin);
  }

  private async runOnce<Answer>(command: Command<Answer>, origin: Origin): Promise<Answer> {
    const use = origin.use!;
    const name = `${use.owner} ${use.key}`;
    use.sent = true;
    if (this.usedKeys.has(name)) {
      throw new IdempotencyInProgressError();
    }
    this.usedKeys.add(name);
    try {
      return await this.enqueue(command, origin);
    } finally {
      this.usedKeys.delete(name);
    }
  }

  private enqueue<Answer>(command: Command<Answer>, origin: Origin): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { owner } = origin;
      const entry = { command, origin, resolve: resolve as Entry['resolve'], reject };
      const caller = new AsyncResource('Command');
      const added = this.queue.add({
        ...entry,
        ...workedOn(command),
        owner,
        since: performance.now(),
        caller,
      });
      if (!added) {
        reject(new ServiceUnavailableError());
        return;
      }
      this.expiry ??= setInterval(() => this.refuseExpired(), QUEUE_TIMEOUT_MS / 10).unref();
      this.limiter.soon();
    });
  }

  private takeBatch(): void {
    const isFree = ({ rows, subjects }: Waiting): boolean =>
      !subjects.some((row) => this.busy.has(row)) && !rows.some((row) => this.held.has(row));
    while (this.limiter.isFree) {
      const entries = this.queue.take(isFree, MAX_BATCH);
      if (entries.length === 0) {
        break;
      }
      void this.limiter.run(entries[0]!.caller, () => this.work(entries, 'skip'));
    }
    this.takeHeld();
  }

  /** Starts a waiting batch for each row that another transaction has locked. */
  private takeHeld(): void {
    for (const [row, isAwaited] of this.held) {
      if (!isAwaited && this.heldLimiter.isFree) {
        const entries = this.queue.take(
          ({ rows, subjects }) => rows.includes(row) && !subjects.some((subject) => this.busy.has(subject)),
          MAX_BATCH,
        );
        if (entries.length > 0) {
          this.held.set(row, true);
          void this.heldLimiter.run(entries[0]!.caller, () =>
            this.work(entries, 'wait').finally(() => this.held.delete(row)),
          );
        } else {
          this.held.delete(row);
        }
      }
    }
  }

  private async work(entries: Waiting[], locked: 'wait' | 'skip'): Promise<void> {
    const subjects = entries.flatMap((entry) => entry.subjects);
    subjects.forEach((subject) => this.busy.add(subject));
    await this.attempt(entries, locked);
    subjects.forEach((subject) => this.busy.delete(subject));
  }

  /** Settles the commands; skipped ones return to the queue. */
  private async attempt(entries: Waiting[], locked: 'wait' | 'skip'): Promise<void> {
    try {
      const { undecided, held } = await withRetries(() => this.runTransaction(entries, locked));
      held.forEach((row) => this.held.set(row, this.held.get(row) ?? false));
      this.queue.putBack(undecided);
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

  private runTransaction(entries: Waiting[], locked: 'wait' | 'skip') {
    const state = new BatchState(new Date(this.clock.now()), this.consequences);
    const tables = {
      inOrder: this.database.entities as readonly Entity[],
      of: (entity: Entity) => this.database.table(entity),
    };
    return this.database.session((session) => new Batch(session, tables, entries, locked, state).run());
  }

  private refuseExpired(): void {
    const deadline = performance.now() - QUEUE_TIMEOUT_MS;
    const expired = this.queue.take(({ since }) => since < deadline);
    expired.forEach(({ reject }) => reject(new ServiceUnavailableError()));
    if (this.queue.size === 0) {
      this.stopExpiry();
    }
  }

  private stopExpiry(): void {
    clearInterval(this.expiry);
    this.expiry = undefined;
  }
}
