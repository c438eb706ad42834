import { type EntityTable, type RowLock } from '../entity-table';
import { type PreparedStatement } from '../prepared';
import { type Session } from '../session';
import { int8ToNumber } from '../int8';
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

/** Figures are counted only up to this value: far more than one batch can change, and still quick. */
export const COUNTED_AT_MOST = 1_001;

type Missing = Map<Entity, number[]>;

/** The needs of a batch, grouped by the statement that loads them. */
interface Needs {
  rows: Map<Entity, Map<RowLock | undefined, Set<number>>>;
  figures: Map<Figure, Set<number>>;
  newIds: Map<Entity, number>;
}

function needsOf(entries: readonly Entry[]): Needs {
  const needs: Needs = { rows: new Map(), figures: new Map(), newIds: new Map() };
  for (const { command } of entries) {
    for (const need of command.needs) {
      if ('row' in need) {
        const locks = entryOf(needs.rows, need.row, () => new Map<RowLock | undefined, Set<number>>());
        entryOf(locks, need.lock, () => new Set<number>()).add(need.id);
      } else if ('figure' in need) {
        entryOf(needs.figures, need.figure, () => new Set<number>()).add(need.id);
      } else {
        needs.newIds.set(need.newId, (needs.newIds.get(need.newId) ?? 0) + 1);
      }
    }
  }
  return needs;
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** Loads what the commands of a batch need, in one round trip. */
export class BatchLoader {
  private readonly needs: Needs;

  constructor(
    private readonly session: Session,
    private readonly tables: Tables,
    entries: readonly Entry[],
    private readonly state: BatchState,
  ) {
    this.needs = needsOf(entries);
  }

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
      for (const [lock, ids] of this.needs.rows.get(entity) ?? []) {
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

  private async loadFigures(): Promise<void> {
    await Promise.all(
      [...this.needs.figures].map(async ([figure, ids]) => {
        const rows = await this.session.run<{ id: string; value: string }>(figure, [[...ids]]);
        ids.forEach((id) => this.state.figures.set(figure, id, 0));
        rows.forEach(({ id, value }) =>
          this.state.figures.set(figure, int8ToNumber(id), int8ToNumber(value)),
        );
      }),
    );
  }

  private async loadNewIds(): Promise<void> {
    await Promise.all(
      [...this.needs.newIds].map(async ([entity, count]) => {
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
