import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Turns } from '#libs/coalescing';
import { Database, isRefusedStatement, mayRunAgain } from '#libs/database';
import { ServiceUnavailableError } from '#libs/http';
import { Batch } from './batch';
import { COUNTED_AT_MOST, type Entry, byLockedRows, subjectsOf } from './batch-loader';
import type { Command, Origin } from './command';
import { FairQueue } from './fair-queue';
import { IdempotencyInProgressError } from './idempotency-errors';
import type { Entity } from './state';

/** One batch waits for the disk, or for this process, while another one works. With more, each would hold fewer commands. */
const AT_ONCE = 2;
/** How many commands share a transaction: few enough that nobody waits long for the others' decisions. */
const MAX_BATCH = Math.min(150, COUNTED_AT_MOST - 1);
/** How many batches wait for rows that other transactions hold. */
const MAX_WAITING_BATCHES = 4;
const MAX_ATTEMPTS = 4;
/** How many commands may wait, in all and of one client. Beyond that the answer is 503, and nothing was done. */
const QUEUE = { max: 10_000, maxOfOwner: 3_000 };
/** How long a command may wait for its turn before the answer is 503. */
const PATIENCE_MS = 10_000;

interface Waiting extends Entry {
  owner: number;
  subjects: string[];
  since: number;
}

/**
 * Runs commands. Those that come at the same time share a transaction: its two round trips and its wait for the disk.
 * Nobody is answered before the commit, and nobody fails because of somebody else: what the database refuses is run
 * again, each command alone. No two batches of this process work on the same row, and rows that others have locked are
 * waited for in a batch of their own.
 */
@Injectable()
export class CommandExecutor implements OnModuleDestroy {
  private readonly queue = new FairQueue<Waiting>(QUEUE);
  private readonly turns = new Turns(() => this.takeBatch(), AT_ONCE);
  /** Commands about locked rows, by the rows; each is a batch. */
  private locked: Waiting[][] = [];
  private readonly lockedTurns = new Turns(() => this.takeLocked(), MAX_WAITING_BATCHES);
  /** The rows that batches under way work on. */
  private readonly busy = new Set<string>();
  /** The Idempotency-Keys of commands that are not answered yet. */
  private readonly usedKeys = new Set<string>();
  private soon = false;
  private expiry?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** How many commands wait for their turn. */
  get waiting(): number {
    return this.queue.size;
  }

  onModuleDestroy(): void {
    clearInterval(this.expiry);
  }

  /**
   * Runs a command.
   * @returns what it decided, after the commit; with an Idempotency-Key that was used before, what was answered then
   * @throws ApiError what it was refused with; 503 when too many commands wait, or the database is away
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
      const entry = { command, origin, owner, subjects: subjectsOf(command), since: performance.now() };
      if (!this.queue.add({ ...entry, resolve: resolve as Entry['resolve'], reject })) {
        reject(new ServiceUnavailableError());
        return;
      }
      this.expiry ??= setInterval(() => this.refuseExpired(), PATIENCE_MS / 10).unref();
      this.takeSoon();
    });
  }

  /** Commands of the same turn of the event loop share a batch. */
  private takeSoon(): void {
    if (!this.soon && this.turns.free) {
      this.soon = true;
      setImmediate(() => {
        this.soon = false;
        this.takeBatch();
      });
    }
  }

  private takeBatch(): void {
    while (this.turns.free) {
      const entries = this.queue.take(MAX_BATCH, this.busy);
      if (entries.length === 0) {
        return;
      }
      const subjects = new Set(entries.flatMap((entry) => entry.subjects));
      subjects.forEach((subject) => this.busy.add(subject));
      void this.turns.take(
        () => this.runBatch(entries, subjects),
        () => subjects.forEach((subject) => this.busy.delete(subject)),
      );
    }
  }

  private async runBatch(entries: Waiting[], subjects: Set<string>): Promise<void> {
    const undecided = await this.attempt(entries, 'skip');
    if (undecided.length > 0) {
      for (const group of byLockedRows(undecided)) {
        // They stay busy until the group is through.
        for (const subject of group.flatMap((entry) => entry.subjects)) {
          subjects.delete(subject);
          this.busy.add(subject);
        }
        this.locked.push(group);
      }
      this.takeLocked();
    }
  }

  private takeLocked(): void {
    while (this.lockedTurns.free && this.locked.length > 0) {
      const group = this.locked.shift()!;
      void this.lockedTurns.take(async () => {
        await this.attempt(group, 'wait');
        group.forEach((entry) => entry.subjects.forEach((subject) => this.busy.delete(subject)));
        this.takeBatch();
      });
    }
  }

  /** Answers the commands, or rejects them. @returns those about rows that somebody else has locked, when they are skipped */
  private async attempt(entries: Waiting[], locked: 'wait' | 'skip'): Promise<Waiting[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.runTransaction(entries, locked)) as Waiting[];
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && mayRunAgain(error)) {
          continue;
        }
        if (entries.length === 1 || !isRefusedStatement(error)) {
          entries.forEach(({ command, reject }) => reject(command.explain?.(error) ?? error));
          return [];
        }
        const undecided: Waiting[] = [];
        for (const entry of entries) {
          undecided.push(...(await this.attempt([entry], locked)));
        }
        return undecided;
      }
    }
  }

  private runTransaction(entries: readonly Entry[], locked: 'wait' | 'skip'): Promise<Entry[]> {
    const now = new Date(this.clock.now());
    const tables = {
      inOrder: this.database.entities as readonly Entity[],
      of: (entity: Entity) => this.database.table(entity),
    };
    return this.database.session((session) => new Batch(session, tables, entries, locked, now).run());
  }

  private refuseExpired(): void {
    const deadline = performance.now() - PATIENCE_MS;
    const expired = this.queue.takeWhere(({ since }) => since < deadline);
    expired.forEach(({ reject }) => reject(new ServiceUnavailableError()));
    if (this.queue.size === 0) {
      clearInterval(this.expiry);
      this.expiry = undefined;
    }
  }
}
