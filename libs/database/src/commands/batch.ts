import type { Session } from '../session';
import { ApiError } from '#libs/http';
import { BatchLoader, type Entry, type Tables } from './batch-loader';
import {
  type IdempotentUse,
  type KeptAnswer,
  type KnownUses,
  claim,
  isNotKept,
  keep,
  replay,
} from './idempotency-records';
import type { BatchState, Change, Entity, Write } from './state';

/** The timeout matters for rows that were read without a lock and are locked elsewhere when they are written. */
const BEGIN = { text: `BEGIN; SET LOCAL lock_timeout = '5s'` };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };

type Outcome = () => void;

/** Commands whose rows are locked by other transactions, and these rows. */
interface Skipped<Item> {
  undecided: Item[];
  held: ReadonlySet<string>;
}

/**
 * Runs several commands in one transaction. The first round trip begins it, locks and loads. Then the commands decide, one
 * after the other. The second round trip writes the changes, table by table, and commits.
 */
export class Batch<Item extends Entry> {
  private readonly kept: { use: IdempotentUse; answer: KeptAnswer }[] = [];
  private readonly outcomes: Outcome[] = [];

  /** @param locked wait for rows that another transaction has locked, or skip their commands */
  constructor(
    private readonly session: Session,
    private readonly tables: Tables,
    private readonly entries: readonly Item[],
    private readonly locked: 'wait' | 'skip',
    private readonly state: BatchState,
  ) {}

  /**
   * Runs the transaction and settles its commands.
   * @throws database errors; no command is settled then
   */
  async run(): Promise<Skipped<Item>> {
    try {
      const skipped = await this.loadAndDecide();
      await this.write();
      this.state.afterCommit.forEach((effect) => effect());
      this.outcomes.forEach((settle) => settle());
      return skipped;
    } catch (error) {
      // After this reply no statement is in progress any more.
      await this.session.run(ROLLBACK).catch(() => undefined);
      throw error;
    }
  }

  private async loadAndDecide(): Promise<Skipped<Item>> {
    const uses = this.entries.flatMap(({ origin }) => origin.use ?? []);
    const loader = new BatchLoader(this.session, this.tables, this.entries, this.state);
    const [, known, missing] = await Promise.all(
      this.session.together(
        () =>
          [
            this.session.run(BEGIN),
            uses.length > 0 ? claim(this.session, uses) : Promise.resolve(undefined),
            loader.load(this.locked),
          ] as const,
      ),
    );
    const held = this.locked === 'skip' ? await loader.heldByOthers(missing) : new Set<string>();
    const undecided: Item[] = [];
    for (const entry of this.entries) {
      const isReplay = entry.origin.use !== undefined && known!.kept.has(entry.origin.use);
      if (!isReplay && entry.rows.some((row) => held.has(row))) {
        undecided.push(entry);
      } else {
        this.decide(entry, known);
      }
    }
    return { undecided, held };
  }

  private decide({ command, origin, resolve, reject }: Entry, known: KnownUses | undefined): void {
    const { use, status } = origin;
    try {
      const answer = (use && replay(use, known!)) ?? this.state.decide(command);
      if (use && !use.replayed) {
        this.kept.push({ use, answer: { status, body: answer as object } });
      }
      this.outcomes.push(() => resolve(answer));
    } catch (error) {
      if (use && known!.claimed.has(use) && !known!.kept.has(use) && error instanceof ApiError) {
        if (!isNotKept(error.status)) {
          this.kept.push({ use, answer: { status: error.status, body: error.toBody() } });
        }
      }
      this.outcomes.push(() => reject(error));
    }
  }

  private async write(): Promise<void> {
    // Builds all statements before sending the first, because a build error must prevent the commit.
    const changes = (['inserted', 'updated', 'deleted'] as const).flatMap((change) =>
      this.tables.inOrder.flatMap((entity) => this.writeOf(entity, change)),
    );
    // Last, because a journal may serialize its writes: only the commit follows while it is locked.
    const writes = [...changes, ...this.appends()];
    const nothing = writes.length === 0 && this.kept.length === 0;
    await Promise.all(
      this.session.together(() => [
        ...(this.kept.length > 0 ? [keep(this.session, this.kept)] : []),
        ...writes.map(({ statement, values }) => this.session.run(statement, values)),
        // With nothing to write, a rollback saves the wait for the disk. COMMIT after a failed write rolls back.
        this.session.run(nothing ? ROLLBACK : COMMIT),
      ]),
    );
  }

  private appends(): Write[] {
    const { appended } = this.state;
    return [...new Set(appended.map(({ journal }) => journal))].flatMap((journal) =>
      journal.write(appended.flatMap((added) => (added.journal === journal ? [added.entry] : []))),
    );
  }

  private writeOf(entity: Entity, change: Change): Write[] {
    const changes = this.state.changes.of(entity);
    const ids = changes === undefined ? [] : [...changes.keys()].filter((id) => changes.get(id) === change);
    if (ids.length === 0) {
      return [];
    }
    const table = this.tables.of(entity);
    if (change === 'deleted') {
      return [{ statement: table.delete(), values: [ids] }];
    }
    const rows = ids.map((id) => this.state.rows.get(entity, id)!);
    const statement = change === 'inserted' ? table.insert() : table.update();
    return [{ statement, values: table.columnsOf(rows) }];
  }
}
