import {
  type EntityTable,
  type PreparedStatement,
  type RowLock,
  type Session,
  int8ToNumber,
} from '#libs/database';
import type { Command, Origin } from './command';
import type { BatchState, Entity, Figure } from './state';

/** A command and who waits for it. */
export interface Entry {
  command: Command;
  origin: Origin;
  /** The rows that it locks. */
  rows: string[];
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** The tables of the entities, parents before children: in this order rows are locked and written. */
export interface Tables {
  inOrder: readonly Entity[];
  of: (entity: Entity) => EntityTable<object>;
}

/** Far above what a batch inserts or takes away, and little enough to count quickly. */
export const COUNTED_AT_MOST = 1_001;

type Missing = Map<Entity, number[]>;

/** Loads what the commands of a batch need, in one round trip. */
export class BatchLoader {
  constructor(
    private readonly session: Session,
    private readonly tables: Tables,
    private readonly entries: readonly Entry[],
    private readonly state: BatchState,
  ) {}

  /**
   * Locks rows before it reads what belongs to them: nobody changes that without the lock.
   * @param locked what to do about rows that another transaction has locked
   * @returns the rows to be locked that were not found
   */
  async load(locked: 'wait' | 'skip'): Promise<Missing> {
    const [missing] = await Promise.all([this.loadRows(locked), this.loadFigures(), this.loadNewIds()]);
    return missing;
  }

  /** Of the rows that could not be locked, those that are there all the same; the others do not exist. */
  async heldByOthers(missing: Missing): Promise<Set<string>> {
    const held = new Set<string>();
    for (const [entity, ids] of missing) {
      const table = this.tables.of(entity);
      const rows = await this.session.read(table.load(), [[...ids]]);
      rows.forEach((row) => held.add(nameOf(entity, table.idOf(table.rowOf(row)))));
    }
    return held;
  }

  private async loadRows(locked: 'wait' | 'skip'): Promise<Missing> {
    const missing: Missing = new Map();
    const loads: Promise<void>[] = [];
    for (const entity of this.tables.inOrder) {
      const table = this.tables.of(entity);
      for (const [lock, ids] of this.idsToLoad(entity)) {
        loads.push(
          this.loadTable(entity, table.load(lock, locked), ids, lock === undefined ? undefined : missing),
        );
      }
    }
    await Promise.all(loads);
    return missing;
  }

  private async loadTable(
    entity: Entity,
    statement: PreparedStatement,
    ids: ReadonlySet<number>,
    missing?: Missing,
  ): Promise<void> {
    const table = this.tables.of(entity);
    const rows = await this.session.read(statement, [[...ids]]);
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
    if (absent.length > 0) {
      missing?.set(entity, [...(missing.get(entity) ?? []), ...absent]);
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
        rows.forEach(({ id, value }) =>
          this.state.figures.set(figure, int8ToNumber(id), int8ToNumber(value)),
        );
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
        this.state.newIds.set(entity, rows.map(({ id }) => int8ToNumber(id)).reverse());
      }),
    );
  }
}

function nameOf(entity: Entity, id: number): string {
  return `${entity.name} ${id}`;
}

/** The rows that a command locks, and those of them (`subjects`) that no two batches work on at a time. */
export function workedOn({ needs }: Command): { rows: string[]; subjects: string[] } {
  const locked = needs.flatMap((need) =>
    'row' in need && need.lock !== undefined ? { name: nameOf(need.row, need.id), lock: need.lock } : [],
  );
  // Any number of commands may keep a row from being deleted.
  const exclusive = locked.filter(({ lock }) => lock !== 'FOR KEY SHARE');
  return { rows: locked.map(({ name }) => name), subjects: exclusive.map(({ name }) => name) };
}
