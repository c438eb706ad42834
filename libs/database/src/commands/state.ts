// Commands, and the state that they decide on.
import type { RowLock } from '../entity-table';
import type { Statement } from '../session';
import type { IdempotentUse } from './idempotency-records';

/** The class of an entity. */
export type Entity<Row extends object = object> = new () => Row;

/** A number that belongs to a row and that a statement computes, such as how many open orders a pet has. */
export interface Aggregate {
  /** For errors. */
  name: string;
  /** `$1` is a `bigint[]` of ids. Returns rows with `id` and `value`, without those whose value is 0. */
  text: string;
}

/** Data that a command needs before it can decide. */
export type Need =
  | { row: Entity; id: number; lock?: RowLock }
  | { aggregate: Aggregate; id: number }
  /** A new id for an insert. */
  | { newId: Entity };

/** One change of the store: the data it needs, and a decision on it. Changes are written when the batch commits. */
export interface Command<Result = unknown> {
  readonly needs: readonly Need[];
  /**
   * Decides on the loaded state and changes it. Synchronous and without side effects.
   * @throws ApiError to reject the command, which discards its changes
   */
  decide(state: State): Result;
  /** Translates a constraint violation. Its result is not kept for the Idempotency-Key. */
  explain?(error: unknown): unknown;
}

/** Who sent a command. */
export interface Origin {
  /** The client id. The queue takes turns between clients. */
  owner: number;
  /** Set when the request carries an `Idempotency-Key`. */
  use?: IdempotentUse;
}

type Row = object | null;

/** Rows of an aggregate are counted only up to this number: far more than one batch can change, and still quick. */
export const MAX_COUNT = 1_001;

/** A statement that changes rows. */
export interface Write {
  statement: Statement;
  values: unknown[];
}

/** An append-only table. Its module defines how the entries of a batch are written. */
export interface Journal<Entry extends object = object> {
  /** @param entries at least one, in the order in which they were added */
  write(entries: readonly Entry[]): Write[];
}

export type Change = 'inserted' | 'updated' | 'deleted';

/** A changed row before and after a command; null if it does not exist. */
export interface RowChange<Changed extends object = object> {
  before: Changed | null;
  after: Changed | null;
}

/** Who takes part in every write. The assembly names them. */
export abstract class Participants {
  /** Whose rows commands change, parents before children: rows are locked and written in this order. */
  abstract readonly entities: readonly Entity[];
  /** Called after each command; reads what it changed, and may add to journals. */
  abstract decided(state: State): void;
}

/** What the batch loads for its commands, and what it writes. */
class BatchData {
  readonly rows = new NestedMap<Entity, Row>();
  readonly aggregates = new NestedMap<Aggregate, number>();
  readonly newIds = new Map<Entity, number[]>();
  readonly changes = new NestedMap<Entity, Change>();
  readonly appended: { journal: Journal; entry: object }[] = [];
}

/**
 * The loaded data of a batch, with the changes of the commands that have decided. Rows are immutable: `update` takes a new
 * one.
 */
export class State {
  /** For the batch only. */
  readonly batch = new BatchData();
  /** The rows that the current command has changed, as they were before. */
  private before = new NestedMap<Entity, Row>();
  /** Takes back what the current command has done, the last first. */
  private undo: (() => void)[] = [];

  /** @param now the time of the batch */
  constructor(
    readonly now: Date,
    private readonly onDecided: (state: State) => void = () => undefined,
  ) {}

  /** Runs a command's decision. Takes its changes back if it throws. */
  decide<Result>(command: Pick<Command<Result>, 'decide'>): Result {
    this.before = new NestedMap();
    this.undo = [];
    try {
      const result = command.decide(this);
      this.onDecided(this);
      return result;
    } catch (error) {
      this.undo.reverse().forEach((undo) => undo());
      throw error;
    }
  }

  /** The row, or null if it does not exist. @throws Error for a row that is not among the command's needs */
  find<Found extends object>(entity: Entity<Found>, id: number): Found | null {
    const row = this.batch.rows.get(entity, id);
    if (row === undefined) {
      throw new Error(`The needs of the command do not include ${entity.name} ${id}.`);
    }
    return row as Found | null;
  }

  /** The rows that this command has changed. */
  changesOf<Changed extends object>(entity: Entity<Changed>): RowChange<Changed>[] {
    const changes = [...this.before.of(entity)].map(([id, before]) => {
      return { before, after: this.batch.rows.get(entity, id)! } as RowChange<Changed>;
    });
    return changes.filter(({ before, after }) => (after === null ? before !== null : !isSame(before, after)));
  }

  newId(entity: Entity): number {
    const id = this.batch.newIds.get(entity)?.pop();
    if (id === undefined) {
      throw new Error(`The needs of the command do not include a new id of ${entity.name}.`);
    }
    return id;
  }

  aggregate(aggregate: Aggregate, id: number): number {
    const value = this.batch.aggregates.get(aggregate, id);
    if (value === undefined) {
      throw new Error(`The needs of the command do not include ${aggregate.name} of ${id}.`);
    }
    return value;
  }

  insert<Inserted extends object>(entity: Entity<Inserted>, id: number, row: Inserted): void {
    this.change(entity, id, row, 'inserted');
  }

  /** Has no effect if the row is unchanged. */
  update<Updated extends object>(entity: Entity<Updated>, id: number, row: Updated): void {
    if (!isSame(this.find(entity, id), row)) {
      const isNew = this.batch.changes.get(entity, id) === 'inserted';
      this.change(entity, id, row, isNew ? 'inserted' : 'updated');
    }
  }

  delete(entity: Entity, id: number): void {
    this.change(entity, id, null, 'deleted');
  }

  /** Adds to an aggregate, if it is loaded. */
  adjust(aggregate: Aggregate, id: number, by: number): void {
    const value = this.batch.aggregates.get(aggregate, id);
    if (value !== undefined) {
      this.put(this.batch.aggregates, aggregate, id, value + by);
    }
  }

  /** Adds to a journal. */
  append<Entry extends object>(journal: Journal<Entry>, entry: Entry): void {
    this.batch.appended.push({ journal: journal as Journal, entry });
    this.undo.push(() => this.batch.appended.pop());
  }

  private change(entity: Entity, id: number, row: Row, change: Change): void {
    if (this.before.get(entity, id) === undefined) {
      this.before.set(entity, id, this.batch.rows.get(entity, id) ?? null);
    }
    this.put(this.batch.rows, entity, id, row);
    this.put(this.batch.changes, entity, id, change);
  }

  private put<Of, Value>(map: NestedMap<Of, Value>, of: Of, id: number, value: Value): void {
    const before = map.get(of, id);
    this.undo.push(() => (before === undefined ? map.delete(of, id) : map.set(of, id, before)));
    map.set(of, id, value);
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

/** A two-level map, by owner (such as an entity) and id. */
class NestedMap<Of, Value> {
  private readonly values = new Map<Of, Map<number, Value>>();

  get(of: Of, id: number): Value | undefined {
    return this.values.get(of)?.get(id);
  }

  set(of: Of, id: number, value: Value): void {
    let values = this.values.get(of);
    if (values === undefined) {
      values = new Map();
      this.values.set(of, values);
    }
    values.set(id, value);
  }

  delete(of: Of, id: number): void {
    this.values.get(of)?.delete(id);
  }

  of(of: Of): ReadonlyMap<number, Value> {
    return this.values.get(of) ?? new Map<number, Value>();
  }
}
