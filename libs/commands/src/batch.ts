import type { Session } from '#libs/database';
import { ApiError } from '#libs/errors';
import { BatchLoader, type Entry, type Tables, lockedNeeds } from './batch-loader';
import {
  type IdempotentUse,
  type KeptAnswer,
  type KnownUses,
  claim,
  isNotKept,
  keep,
  replay,
} from './idempotency-records';
import { BatchState, type Change, type Entity } from './state';

const BEGIN = { text: 'BEGIN' };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };
type Outcome = () => void;

/**
 * Commands that share a transaction: one round trip begins it, locks and loads; the commands decide, one after the
 * other; a second round trip writes what changed, table by table, and commits.
 */
export class Batch {
  private readonly state: BatchState;
  private readonly kept: { use: IdempotentUse; answer: KeptAnswer }[] = [];
  private readonly outcomes: Outcome[] = [];

  /** @param locked what to do about rows that another transaction has locked: wait, or leave their commands undecided */
  constructor(
    private readonly session: Session,
    private readonly tables: Tables,
    private readonly entries: readonly Entry[],
    private readonly locked: 'wait' | 'skip',
    now: Date,
  ) {
    this.state = new BatchState(now);
  }

  /**
   * Runs the transaction and answers its commands.
   * @returns the commands that were left undecided
   * @throws what the database throws; then no command was answered
   */
  async run(): Promise<Entry[]> {
    try {
      const undecided = await this.loadAndDecide();
      await this.write();
      this.outcomes.forEach((tell) => tell());
      return undecided;
    } catch (error) {
      // Answered last, so nothing is under way on the connection any more.
      await this.session.run(ROLLBACK).catch(() => undefined);
      throw error;
    }
  }

  private async loadAndDecide(): Promise<Entry[]> {
    const uses = this.entries.flatMap(({ origin }) => origin.use ?? []);
    const begun = this.session.run(BEGIN);
    const claimed = uses.length > 0 ? claim(this.session, uses) : undefined;
    const loader = new BatchLoader(this.session, this.tables, this.entries, this.state);
    const missing = loader.load(this.locked);
    await Promise.all([begun, claimed, missing]);
    const known = await claimed;
    const held = this.locked === 'skip' ? await loader.heldByOthers(await missing) : new Set<string>();
    const undecided: Entry[] = [];
    for (const entry of this.entries) {
      if (held.size > 0 && lockedNeeds(entry.command).some(({ name }) => held.has(name))) {
        undecided.push(entry);
      } else {
        this.decide(entry, known);
      }
    }
    return undecided;
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
    const { inOrder } = this.tables;
    const writes = [
      ...inOrder.map((entity) => this.writeRows(entity, 'inserted')),
      ...inOrder.map((entity) => this.writeRows(entity, 'updated')),
      ...inOrder.map((entity) => this.writeRows(entity, 'deleted')),
      this.kept.length > 0 ? keep(this.session, this.kept) : undefined,
    ].filter((write) => write !== undefined);
    // A rollback does not wait for the disk. A commit after a failed write rolls back.
    const ended = this.session.run(writes.length > 0 ? COMMIT : ROLLBACK);
    await Promise.all([...writes, ended]);
  }

  private writeRows(entity: Entity, change: Change): Promise<unknown> | undefined {
    const changes = this.state.changes.of(entity);
    const ids = changes === undefined ? [] : [...changes.keys()].filter((id) => changes.get(id) === change);
    if (ids.length === 0) {
      return undefined;
    }
    const table = this.tables.of(entity);
    if (change === 'deleted') {
      return this.session.run(table.delete(), [ids]);
    }
    const rows = ids.map((id) => this.state.rows.get(entity, id)!);
    return this.session.run(change === 'inserted' ? table.insert() : table.update(), table.columnsOf(rows));
  }
}
