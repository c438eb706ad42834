import type { EntityTable, RowLock, Session } from '#libs/database';
import { ApiError } from '#libs/errors';
import type { Command, Origin } from './command';
import {
  type IdempotentUse,
  type KeptAnswer,
  type KnownUses,
  claim,
  isNotKept,
  keep,
  replay,
} from './idempotency-records';
import { BatchState, type Change, type Entity, type Figure } from './state';

/** A command and who waits for it. */
export interface Entry {
  command: Command;
  origin: Origin;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** The tables of the entities, parents before children: in this order rows are locked and written. */
export interface Tables {
  inOrder: readonly Entity[];
  of: (entity: Entity) => EntityTable<object>;
}

const BEGIN = { text: 'BEGIN' };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };
/** Far above what a batch inserts or takes away, and little enough to count quickly. */
export const COUNTED_AT_MOST = 1_001;

type Outcome = () => void;
type Missing = Map<Entity, number[]>;

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
    const missing = this.loadRows();
    const loaded = [this.loadFigures(), this.loadNewIds()];
    await Promise.all([begun, claimed, missing, ...loaded]);
    const known = await claimed;
    const held = await this.heldByOthers(await missing);
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

  /** Of the rows that could not be locked, those that are there all the same; the others do not exist. */
  private async heldByOthers(missing: Missing): Promise<Set<string>> {
    const held = new Set<string>();
    if (this.locked === 'skip') {
      for (const [entity, ids] of missing) {
        const table = this.tables.of(entity);
        const rows = await this.session.run<object>(table.load(), [[...ids]]);
        rows.forEach((row) => held.add(nameOf(entity, table.idOf(table.rowOf(row)))));
      }
    }
    return held;
  }

  /** @returns the rows to be locked that were not found */
  private async loadRows(): Promise<Missing> {
    const missing: Missing = new Map();
    const loads: Promise<void>[] = [];
    for (const entity of this.tables.inOrder) {
      for (const [lock, ids] of this.idsToLoad(entity)) {
        loads.push(this.loadTable(entity, lock, ids, missing));
      }
    }
    await Promise.all(loads);
    return missing;
  }

  private async loadTable(
    entity: Entity,
    lock: RowLock | undefined,
    ids: ReadonlySet<number>,
    missing: Missing,
  ): Promise<void> {
    const table = this.tables.of(entity);
    const rows = await this.session.run<object>(table.load(lock, this.locked), [[...ids]]);
    const found = new Set<number>();
    for (const stored of rows) {
      const row = table.rowOf(stored);
      const id = table.idOf(row);
      found.add(id);
      this.state.rows.set(entity, id, row);
    }
    const absent = [...ids].filter((id) => !found.has(id));
    for (const id of absent) {
      if (this.state.rows.get(entity, id) === undefined) {
        this.state.rows.set(entity, id, null);
      }
    }
    if (lock !== undefined && absent.length > 0) {
      missing.set(entity, [...(missing.get(entity) ?? []), ...absent]);
    }
  }

  private idsToLoad(entity: Entity): Map<RowLock | undefined, Set<number>> {
    const ids = new Map<RowLock | undefined, Set<number>>();
    for (const { command } of this.entries) {
      for (const need of command.needs) {
        if ('row' in need && need.row === entity) {
          ids.set(need.lock, (ids.get(need.lock) ?? new Set()).add(need.id));
        }
      }
    }
    return ids;
  }

  private async loadFigures(): Promise<void> {
    const wanted = new Map<Figure, Set<number>>();
    for (const { command } of this.entries) {
      for (const need of command.needs) {
        if ('figure' in need) {
          wanted.set(need.figure, (wanted.get(need.figure) ?? new Set()).add(need.id));
        }
      }
    }
    await Promise.all(
      [...wanted].map(async ([figure, ids]) => {
        const rows = await this.session.run<{ id: string; value: string }>(figure, [[...ids]]);
        ids.forEach((id) => this.state.figures.set(figure, id, 0));
        rows.forEach(({ id, value }) => this.state.figures.set(figure, Number(id), Number(value)));
      }),
    );
  }

  private async loadNewIds(): Promise<void> {
    const counts = new Map<Entity, number>();
    for (const { command } of this.entries) {
      for (const need of command.needs) {
        if ('newId' in need) {
          counts.set(need.newId, (counts.get(need.newId) ?? 0) + 1);
        }
      }
    }
    await Promise.all(
      [...counts].map(async ([entity, count]) => {
        const rows = await this.session.run<{ id: string }>(this.tables.of(entity).newIds(), [count]);
        // The smallest is taken first.
        this.state.newIds.set(entity, rows.map(({ id }) => Number(id)).reverse());
      }),
    );
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

function nameOf(entity: Entity, id: number): string {
  return `${entity.name} ${id}`;
}

/** The rows that a command locks against others. */
export function lockedNeeds({ needs }: Command): { name: string; lock: RowLock }[] {
  return needs.flatMap((need) =>
    'row' in need && need.lock !== undefined ? { name: nameOf(need.row, need.id), lock: need.lock } : [],
  );
}

/** The rows that no two batches of this process work on at a time. Any number may keep a row from being deleted. */
export function subjectsOf(command: Command): string[] {
  return lockedNeeds(command)
    .filter(({ lock }) => lock !== 'FOR KEY SHARE')
    .map(({ name }) => name);
}
