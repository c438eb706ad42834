import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Turns } from '#libs/coalescing';
import { Database, isRefusedStatement, mayRunAgain } from '#libs/database';
import { ServiceUnavailableError } from '#libs/http';
import { Batch } from './batch';
import { type Entry, workedOn } from './batch-loader';
import type { Command, Origin } from './command';
import { FairQueue } from './fair-queue';
import { IdempotencyInProgressError } from './idempotency-errors';
import { BatchState, type Consequence, type Entity } from './state';

/** One batch waits for the disk, or for this process, while another one works. With more, each would hold fewer commands. */
const AT_ONCE = 2;
/** How many commands share a transaction: few enough that nobody waits long for the others' decisions. */
const MAX_BATCH = 150;
/** Of the connections of the pool, the share that batches may hold which wait for rows that other transactions have locked. */
const WAITING_SHARE = 1 / 4;
const MAX_ATTEMPTS = 4;
/** How many commands may wait, in all and of one client. Beyond that the answer is 503, and nothing was done. */
const QUEUE = { max: 10_000, maxOfOwner: 3_000 };
/** How long a command may wait for its turn before the answer is 503. */
const PATIENCE_MS = 10_000;

type Waiting = Entry & ReturnType<typeof workedOn> & { owner: number; since: number };

/**
 * Runs commands. Those that come at the same time share a transaction: its two round trips and its wait for the disk.
 * Nobody is answered before the commit, and nobody fails because of somebody else: a batch that the database refuses is
 * halved until the command at fault is alone. No two batches of this process work on the same row. Commands about rows
 * that another transaction holds wait for them in a batch of their own.
 */
@Injectable()
export class CommandExecutor implements OnModuleDestroy {
  private readonly queue = new FairQueue<Waiting>(QUEUE);
  private readonly turns = new Turns(() => this.takeBatch(), AT_ONCE);
  private readonly heldTurns: Turns;
  /** Rows that other transactions hold, in the order in which they were met, and whether a batch waits for them. */
  private readonly held = new Map<string, boolean>();
  /** The rows that batches under way work on. */
  private readonly busy = new Set<string>();
  /** The Idempotency-Keys of commands that are not answered yet. */
  private readonly usedKeys = new Set<string>();
  private consequences = new Map<Entity, Consequence>();
  private soon = false;
  private expiry?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    const most = Math.max(1, Math.floor(database.poolUse.max * WAITING_SHARE));
    this.heldTurns = new Turns(() => this.takeBatch(), most, most);
  }

  onModuleDestroy(): void {
    clearInterval(this.expiry);
    this.expiry = undefined;
  }

  /** Has every change of the entity's rows entail something in the same transaction; children before their parents. */
  onChange<Row extends object>(entity: Entity<Row>, entail: Consequence<Row>): void {
    const all = new Map(this.consequences).set(entity, entail as Consequence);
    const place = ([one]: [Entity, Consequence]): number => this.database.entities.indexOf(one);
    this.consequences = new Map([...all].sort((a, b) => place(b) - place(a)));
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
      const entry = { command, origin, resolve: resolve as Entry['resolve'], reject };
      const added = this.queue.add({ ...entry, ...workedOn(command), owner, since: performance.now() });
      if (!added) {
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
    const isFree = ({ rows, subjects }: Waiting): boolean =>
      !subjects.some((row) => this.busy.has(row)) && !rows.some((row) => this.held.has(row));
    while (this.turns.free) {
      const entries = this.queue.take(MAX_BATCH, isFree);
      if (entries.length === 0) {
        break;
      }
      void this.turns.take(() => this.work(entries, 'skip'));
    }
    this.takeHeld();
  }

  /** Waits for rows that others hold, a batch for each. */
  private takeHeld(): void {
    for (const [row, isAwaited] of this.held) {
      if (!isAwaited && this.heldTurns.free) {
        const entries = this.queue.take(
          MAX_BATCH,
          ({ rows, subjects }) => rows.includes(row) && !subjects.some((subject) => this.busy.has(subject)),
        );
        if (entries.length > 0) {
          this.held.set(row, true);
          void this.heldTurns.take(() => this.work(entries, 'wait').finally(() => this.held.delete(row)));
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

  /** Answers the commands, or rejects them; those about rows that others hold are put back when these are skipped. */
  private async attempt(entries: Waiting[], locked: 'wait' | 'skip'): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { undecided, held } = await this.runTransaction(entries, locked);
        held.forEach((row) => this.held.set(row, this.held.get(row) ?? false));
        this.queue.putBack(undecided);
        return;
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && mayRunAgain(error)) {
          continue;
        }
        if (entries.length === 1 || !isRefusedStatement(error)) {
          entries.forEach(({ command, reject }) => reject(command.explain?.(error) ?? error));
          return;
        }
        const half = Math.ceil(entries.length / 2);
        await this.attempt(entries.slice(0, half), locked);
        await this.attempt(entries.slice(half), locked);
        return;
      }
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
    const deadline = performance.now() - PATIENCE_MS;
    const expired = this.queue.take(Infinity, ({ since }) => since < deadline);
    expired.forEach(({ reject }) => reject(new ServiceUnavailableError()));
    if (this.queue.size === 0) {
      this.onModuleDestroy();
    }
  }
}
