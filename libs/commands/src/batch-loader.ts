import {
  type EntityTable,
  type PreparedStatement,
  type RowLock,
  type Session,
  int8ToNumber,
} from '#libs/database';
import type { Command, Origin } from './command';
import type { BatchState, Entity, Figure } from './state';

/** A queued command. */
export interface Entry {
  command: Command;
  origin: Origin;
  /** The rows that it locks. */
  rows: string[];
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** The entities in lock and write order, parents before children, and their tables. */
export interface Tables {
  inOrder: readonly Entity[];
  of: (entity: Entity) => EntityTable<object>;
}

/** Figures stop counting here: far above what one batch can change, and quick to count. */
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
   * Locks the rows before it reads figures that depend on them.
   * @param locked whether to wait for rows that another transaction has locked, or to skip them
   * @returns rows that could not be locked: they are locked elsewhere or do not exist
   */
  async load(locked: 'wait' | 'skip'): Promise<Missing> {
    const [missing] = await Promise.all([this.loadRows(locked), this.loadFigures(), this.loadNewIds()]);
    return missing;
  }

  /** Which of these rows exist, and are therefore locked by another transaction. */
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
        // `newId` pops, so the smallest id is used first.
        this.state.newIds.set(entity, rows.map(({ id }) => int8ToNumber(id)).reverse());
      }),
    );
  }
}

function nameOf(entity: Entity, id: number): string {
  return `${entity.name} ${id}`;
}

/** The rows that a command locks; `subjects` are those that only one batch at a time may work on. */
export function workedOn({ needs }: Command): { rows: string[]; subjects: string[] } {
  const locked = needs.flatMap((need) =>
    'row' in need && need.lock !== undefined ? { name: nameOf(need.row, need.id), lock: need.lock } : [],
  );
  // FOR KEY SHARE is a shared lock.
  const exclusive = locked.filter(({ lock }) => lock !== 'FOR KEY SHARE');
  return { rows: locked.map(({ name }) => name), subjects: exclusive.map(({ name }) => name) };
}
