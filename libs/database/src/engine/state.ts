// Commands, and the state that they decide on.
import type { RowLock } from './entity-table';
import type { Call } from './pipeline';
import type { SharedRead } from './session';

/** The class of an entity. */
export type Entity<Row extends object = object> = new () => Row;

/**
 * A value for each key that a statement of its own reads: how many open orders a pet has, or whether a name is taken. It is read
 * after the rows are locked, so that it is as new as they are, or before them.
 */
export interface Lookup<Key, Value> extends SharedRead<Key, Value> {
  /** For errors. */
  name: string;
  isBeforeRows?: boolean;
}

/** Data that a command needs before it can decide. */
export type Need =
  | { row: Entity; id: number; lock?: RowLock }
  | { lookup: Lookup<never, unknown>; key: unknown }
  /** A new id for an insert. */
  | { newId: Entity };

/** One change of the store: the data it needs, and a decision on it. Changes are written when the batch commits. */
export interface Command<Result = unknown> {
  readonly needs: readonly Need[];
  /**
   * Decides on the loaded state and changes it. Synchronous and without side effects.
   * @throws an error to reject the command, which discards its changes
   */
  decide(state: State): Result;
  /** True if the command can decide although rows that it needs are locked elsewhere. */
  needsNoRows?(state: State): boolean;
  /** Translates a constraint violation. */
  translateViolation?(error: unknown): unknown;
}

/** A result of `decide` that rejects the command after the commit, and keeps what it has changed. */
export class Rejection {
  constructor(readonly error: unknown) {}
}

/** Who sent a command, and on which condition. */
export interface Origin {
  /** The client id. The queue takes turns between clients. */
  owner: number;
  /** What the sender expects of the resource that it changes. Checked by `decide`, which has the row locked. */
  precondition?: {
    /** @throws an error if the resource, as it would be read at that moment, is not as expected */
    assertHolds(resource: object): void;
  };
  /** Wraps the command, such as for a request that must run once however often it is sent. */
  wrap?<Result>(command: Command<Result>): Command<Result | Rejection>;
}

type Row = object | null;

/** An append-only table. Its module defines how the entries of a batch are written. */
export interface Journal<Entry extends object = object> {
  /** @param entries at least one, in the order in which they were added */
  write(entries: readonly Entry[]): Call[];
}

export type Change = 'inserted' | 'updated' | 'deleted';

/** A changed row before and after a command; null if it does not exist. */
export interface RowChange<Changed extends object = object> {
  before: Changed | null;
  after: Changed | null;
}

/** Rows are counted only up to this number: far more than one batch can change, and still quick. */
export const MAX_COUNT = 1_001;

/**
 * A number of rows for each id.
 * @param text reads them for the `bigint[]` `$1`: rows of an id and its number, without those whose number is 0
 */
export function countById(name: string, text: string): Lookup<number, number> {
  return {
    name,
    maxBatch: Infinity,
    callFor: (ids) => ({ statement: { text }, values: [ids] }),
    resultsOf: (rows, ids) => {
      const counts = new Map(rows as readonly [number, number][]);
      return ids.map((id) => counts.get(id) ?? 0);
    },
  };
}

/** What the batch loads for its commands, and what it writes. */
class BatchData {
  readonly rows = new NestedMap<Entity, Row>();
  readonly lookups = new NestedMap<object, unknown, unknown>();
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

  /**
   * @param now the time of the batch
   * @param afterCommand called after each command; reads what it changed, and may add to journals
   */
  constructor(
    readonly now: Date,
    private readonly afterCommand: (state: State) => void = () => undefined,
  ) {}

  /** Runs a command's decision. Takes its changes back if it throws. */
  decide<Result>(command: Pick<Command<Result>, 'decide'>): Result {
    this.before = new NestedMap();
    this.undo = [];
    return this.attempt(() => {
      const result = command.decide(this);
      this.afterCommand(this);
      return result;
    });
  }

  /** Runs a part of a decision, and takes back its own changes if it throws. */
  attempt<Result>(part: () => Result): Result {
    const start = this.undo.length;
    try {
      return part();
    } catch (error) {
      this.undo
        .splice(start)
        .reverse()
        .forEach((undo) => undo());
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

  /** @throws Error for a value that is not among the command's needs */
  lookUp<Key, Value>(lookup: Lookup<Key, Value>, key: Key): Value {
    const value = this.batch.lookups.get(lookup, key);
    if (value === undefined) {
      throw new Error(`The needs of the command do not include ${lookup.name} of ${String(key)}.`);
    }
    return value as Value;
  }

  /** Tells later commands of the batch what a lookup would find now, if it was loaded. */
  note<Key, Value>(lookup: Lookup<Key, Value>, key: Key, next: (value: Value) => Value): void {
    const value = this.batch.lookups.get(lookup, key);
    if (value !== undefined) {
      this.put(this.batch.lookups, lookup, key, next(value as Value));
    }
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

  /** Adds to a journal. */
  append<Entry extends object>(journal: Journal<Entry>, entry: Entry): void {
    this.batch.appended.push({ journal: journal as Journal, entry });
    this.undo.push(() => this.batch.appended.pop());
  }

  private change(entity: Entity, id: number, row: Row, change: Change): void {
    if (this.before.get(entity, id) === undefined) {
      this.put(this.before, entity, id, this.batch.rows.get(entity, id) ?? null);
    }
    this.put(this.batch.rows, entity, id, row);
    this.put(this.batch.changes, entity, id, change);
  }

  private put<Of, Key, Value>(map: NestedMap<Of, Value, Key>, of: Of, key: Key, value: Value): void {
    const before = map.get(of, key);
    this.undo.push(() => (before === undefined ? map.delete(of, key) : map.set(of, key, before)));
    map.set(of, key, value);
  }
}

function isSame(row: object | null, other: object): boolean {
  return (
    row !== null &&
    Object.keys(other).every((name) => isEqual(Reflect.get(row, name), Reflect.get(other, name)))
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (one instanceof Date && other instanceof Date && Number(one) === Number(other));
}

/** A two-level map, by owner (such as an entity) and key. */
class NestedMap<Of, Value, Key = number> {
  private readonly values = new Map<Of, Map<Key, Value>>();

  get(of: Of, key: Key): Value | undefined {
    return this.values.get(of)?.get(key);
  }

  set(of: Of, key: Key, value: Value): void {
    let values = this.values.get(of);
    if (values === undefined) {
      values = new Map();
      this.values.set(of, values);
    }
    values.set(key, value);
  }

  delete(of: Of, key: Key): void {
    this.values.get(of)?.delete(key);
  }

  of(of: Of): ReadonlyMap<Key, Value> {
    return this.values.get(of) ?? new Map<Key, Value>();
  }
}
