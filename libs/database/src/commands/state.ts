// The state that commands decide on: loaded rows, with the changes of earlier commands in the batch.
import type { PreparedStatement } from '../prepared';
import { NestedMap } from './nested-map';

/** The class of an entity. */
export type Entity<Row extends object = object> = new () => Row;

/** A number that belongs to a row and that a statement computes, such as how many open orders a pet has. */
export interface Figure {
  name: string;
  /** `$1` is a `bigint[]` of ids. Returns rows with `id` and `value`, without those whose value is 0. */
  text: string;
}

type Row = object | null;

/** A statement that changes rows. */
export interface Write {
  statement: PreparedStatement;
  values: unknown[];
}

/** An append-only table. Its module defines how the entries of a batch are written. */
export interface Journal<Entry extends object = object> {
  /** @param entries at least one, in the order in which they were added */
  write(entries: readonly Entry[]): Write[];
}

interface Appended {
  journal: Journal;
  entry: object;
}
export type Change = 'inserted' | 'updated' | 'deleted';

/** A command's view of the data. Rows are immutable: `update` takes a new one. */
export interface State {
  /** The time of the batch. */
  readonly now: Date;
  /** The row, or null if it does not exist. @throws Error for a row that is not among the command's needs */
  find<Found extends object>(entity: Entity<Found>, id: number): Found | null;
  /** True if this command has changed the row. */
  isChanged(entity: Entity, id: number): boolean;
  newId(entity: Entity): number;
  figure(figure: Figure, id: number): number;
  insert<Inserted extends object>(entity: Entity<Inserted>, id: number, row: Inserted): void;
  /** Has no effect if the row is unchanged. */
  update<Updated extends object>(entity: Entity<Updated>, id: number, row: Updated): void;
  delete(entity: Entity, id: number): void;
  /** Adds to a figure, if it is loaded. */
  adjust(figure: Figure, id: number, by: number): void;
  /** Adds to a journal. */
  append<Entry extends object>(journal: Journal<Entry>, entry: Entry): void;
  /** Runs an effect in this process after the commit. */
  afterCommit(effect: () => void): void;
}

/** A changed row before and after a command; null if it does not exist. */
export interface RowChange<Changed extends object = object> {
  before: Changed | null;
  after: Changed | null;
}

/** Called after the command for each row that it changed; may make further changes. */
export type Consequence<Changed extends object = object> = (change: RowChange<Changed>, state: State) => void;

/** By entity, in call order. */
export type Consequences = ReadonlyMap<Entity, Consequence>;

/** The state of a batch. */
export class BatchState {
  readonly rows = new NestedMap<Entity, Row>();
  readonly figures = new NestedMap<Figure, number>();
  readonly newIds = new Map<Entity, number[]>();
  readonly changes = new NestedMap<Entity, Change>();
  readonly appended: Appended[] = [];
  readonly afterCommit: (() => void)[] = [];

  constructor(
    readonly now: Date,
    private readonly consequences: Consequences = new Map(),
  ) {}

  /**
   * Runs a command's decision. Discards its changes if it throws.
   */
  decide<Answer>(command: { decide(state: State): Answer }): Answer {
    const draft = new Draft(this);
    const answer = command.decide(draft);
    this.consequences.forEach((entail, entity) => this.entail(entity, entail, draft));
    this.rows.addAll(draft.rows);
    this.figures.addAll(draft.figures);
    this.changes.addAll(draft.changes);
    this.appended.push(...draft.appended);
    this.afterCommit.push(...draft.effects);
    return answer;
  }

  private entail(entity: Entity, entail: Consequence, draft: Draft): void {
    draft.rows.of(entity)?.forEach((after, id) => {
      const before = this.rows.get(entity, id) ?? null;
      const isUnchanged = after === null ? before === null : isSame(before, after);
      if (!isUnchanged) {
        entail({ before, after }, draft);
      }
    });
  }
}

class Draft implements State {
  readonly rows = new NestedMap<Entity, Row>();
  readonly figures = new NestedMap<Figure, number>();
  readonly changes = new NestedMap<Entity, Change>();
  readonly appended: Appended[] = [];
  readonly effects: (() => void)[] = [];

  constructor(private readonly batch: BatchState) {}

  get now(): Date {
    return this.batch.now;
  }

  find<Found extends object>(entity: Entity<Found>, id: number): Found | null {
    const own = this.rows.get(entity, id);
    const row = own === undefined ? this.batch.rows.get(entity, id) : own;
    if (row === undefined) {
      throw new Error(`The needs of the command do not include ${entity.name} ${id}.`);
    }
    return row as Found | null;
  }

  isChanged(entity: Entity, id: number): boolean {
    return this.changes.get(entity, id) !== undefined;
  }

  newId(entity: Entity): number {
    const id = this.batch.newIds.get(entity)?.pop();
    if (id === undefined) {
      throw new Error(`The needs of the command do not include a new id of ${entity.name}.`);
    }
    return id;
  }

  figure(figure: Figure, id: number): number {
    const value = this.figures.get(figure, id) ?? this.batch.figures.get(figure, id);
    if (value === undefined) {
      throw new Error(`The needs of the command do not include ${figure.name} of ${id}.`);
    }
    return value;
  }

  insert<Inserted extends object>(entity: Entity<Inserted>, id: number, row: Inserted): void {
    this.change(entity, id, row, 'inserted');
  }

  update<Updated extends object>(entity: Entity<Updated>, id: number, row: Updated): void {
    if (isSame(this.find(entity, id), row)) {
      return;
    }
    const before = this.changes.get(entity, id) ?? this.batch.changes.get(entity, id);
    this.change(entity, id, row, before === 'inserted' ? 'inserted' : 'updated');
  }

  delete(entity: Entity, id: number): void {
    this.change(entity, id, null, 'deleted');
  }

  adjust(figure: Figure, id: number, by: number): void {
    const value = this.figures.get(figure, id) ?? this.batch.figures.get(figure, id);
    if (value !== undefined) {
      this.figures.set(figure, id, value + by);
    }
  }

  append<Entry extends object>(journal: Journal<Entry>, entry: Entry): void {
    this.appended.push({ journal, entry });
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  private change(entity: Entity, id: number, row: Row, change: Change): void {
    this.rows.set(entity, id, row);
    this.changes.set(entity, id, change);
  }
}

function isSame(row: object | null, other: object): boolean {
  return (
    row !== null &&
    Object.entries(other).every(([name, value]) => {
      const before: unknown = Reflect.get(row, name);
      return before === value || (isDate(before) && isDate(value) && Number(before) === Number(value));
    })
  );
}

function isDate(value: unknown): value is Date {
  return value instanceof Date;
}
