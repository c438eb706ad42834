import { getOrInsert } from './get-or-insert';
import type { Insert } from './insert';
import type { CallerId } from './queue';
import type { SharedRead, Statement } from './session';

export type Entity<Row extends object = object> = new () => Row;

/** A statement that finds a value for each key, such as the number of subscriptions for each account. */
export interface Lookup<Key, Value> extends SharedRead<Key, Value> {
  name: string;
  /** If true, the statement runs after the rows are locked, so that its result cannot be outdated. */
  isUnderLocks?: true;
}

/** The row locks that commands use, from the weakest to the strongest. A stronger lock includes the weaker locks. */
const ROW_LOCKS = ['FOR KEY SHARE', 'FOR NO KEY UPDATE', 'FOR UPDATE'] as const;
export type RowLock = (typeof ROW_LOCKS)[number];

export function isAsStrong(lock: RowLock | undefined, other: RowLock): boolean {
  return lock !== undefined && ROW_LOCKS.indexOf(lock) >= ROW_LOCKS.indexOf(other);
}

/** Data that the engine loads before a command decides. */
export type Need = RowNeed | LookupNeed | NewIdNeed;

export interface RowNeed {
  entity: Entity;
  id: number;
  lock: RowLock;
}

/** Asks for the value that the statement `lookup` finds for `key`. */
export interface LookupNeed {
  lookup: Lookup<never, unknown>;
  key: unknown;
}

/** Asks for an id for a new row of the entity. */
export interface NewIdNeed {
  newId: Entity;
}

/**
 * One change of the store's data. The rows in `needs` are loaded, `decide` changes the rows in memory, and the changes
 * are written.
 */
export interface Command<Result = unknown> {
  readonly needs: readonly Need[];
  /**
   * Returns the resource that the command changes, as callers see the resource before the change. The engine does not call
   * this function. `CommandSource.wrap` can call it to check a condition before `decide`, such as an expected ETag.
   * @throws an error if the resource does not exist
   */
  resource?(state: State): object;
  /**
   * Checks the rules and makes the changes in `state`. Must have no other effects, because `decide` may be called again
   * for the same command.
   * @throws any error, which rejects the command and discards its changes
   */
  decide(state: State): Result;
  /**
   * Called with the error that `decide` has thrown, after the changes of the command were discarded. The changes that this
   * function makes are committed, for example a record of the error.
   */
  recordError?(state: State, error: unknown): void;
  /**
   * Returns true if the command can decide without the rows in `needs`. The command then does not wait for rows that
   * another transaction has locked.
   */
  needsNoRows?(state: State): boolean;
}

export interface CommandSource {
  /** A number that identifies the caller that sent the command. The queue takes commands from each caller in turn. */
  callerId: CallerId;
  /** Changes a command before it is queued, for example so that a repeated request takes effect only once. */
  wrap?<Result>(command: Command<Result>): Command<Result>;
}

type Change = 'insert' | 'update' | 'delete';

/**
 * A row before and after a command. If the command has inserted the row, `before` is null. If the command has deleted the
 * row, `after` is null.
 */
export interface RowChange<Changed extends object = object> {
  before: Changed | null;
  after: Changed | null;
}

/**
 * One thing that commands can read or change, namely one of these, and the `collection` to which it belongs:
 * - a row, or null for a row that does not exist; the collection is the entity of the row
 * - the value that a lookup has found for a key; the collection is the lookup
 * - a list of rows to append; the collection is the `Insert` for these rows
 */
interface Cell {
  collection: object;
  /** A change replaces `value` and never modifies the object in `value`, so that the change can be undone. */
  value: unknown;
  /** The value in the database. The batch writes a row only if `value` differs from `stored`. */
  readonly stored: unknown;
  /** The lock that the transaction holds on the row. Commands that need a stronger lock wait for a later batch. */
  readonly lock?: RowLock | undefined;
}

/**
 * The rows that a batch has loaded, and the values that its lookups have found, with the changes that the commands of the
 * batch have made so far. Reading a row or the value of a lookup that the batch has not loaded throws an error. Commands
 * call the methods from `find` on, and the engine calls the methods before `find`.
 */
export class State {
  /**
   * The loaded rows and the found values. The cell of a row is found by its entity and then its id, and the cell of a value
   * by its lookup and then the key for which the lookup found the value.
   */
  private readonly cells = new Map<object, Map<unknown, Cell>>();
  private readonly newIds = new Map<Entity, number[]>();
  /** The rows that commands have added with `append`, by the statement that inserts these rows. */
  private readonly appended = new Map<Insert, Cell>();
  /**
   * The value that each cell had before the current command changed the cell. If the command fails, the cells get these
   * values back. If it succeeds, these values show what the command has changed.
   */
  private before = new Map<Cell, unknown>();

  /**
   * @param now the time of all changes in the batch
   * @param afterCommand called after each command, for example to add events
   */
  constructor(
    readonly now: Date,
    private readonly afterCommand: (state: State) => void = () => undefined,
  ) {}

  /**
   * Adds what was read from the database to this state: a row of a table, or the result of a `Lookup` for a key.
   * @param collection the entity of the row, or the `Lookup`
   * @param lock the lock that the transaction holds on the row
   */
  addLoaded(collection: object, key: unknown, stored: unknown, lock?: RowLock): Cell {
    const cell = { collection, value: stored, stored, lock };
    getOrInsert(this.cells, collection, () => new Map<unknown, Cell>()).set(key, cell);
    return cell;
  }

  /**
   * True if the state has the row and the transaction holds a lock on it that is strong enough, or if the row is known
   * not to exist, so that there is nothing to lock.
   */
  meets({ entity, id, lock }: RowNeed): boolean {
    const cell = this.cells.get(entity)?.get(id);
    return cell !== undefined && (cell.stored === null || isAsStrong(cell.lock, lock));
  }

  addNewId(entity: Entity, id: number): void {
    getOrInsert(this.newIds, entity, () => []).push(id);
  }

  writesOf(entity: Entity): Record<Change, object[]> {
    const writes: Record<Change, object[]> = { insert: [], update: [], delete: [] };
    for (const { stored, value } of this.cells.get(entity)?.values() ?? []) {
      if (value === null && stored !== null) {
        writes.delete.push(stored as object);
      } else if (!isSame(stored, value)) {
        writes[stored === null ? 'insert' : 'update'].push(value as object);
      }
    }
    return writes;
  }

  appends(): Statement[] {
    const appended = [...this.appended].map(([insert, { value }]) => [insert, value as unknown[][]] as const);
    return appended.flatMap(([insert, rows]) => (rows.length > 0 ? insert.statementFor(rows) : []));
  }

  decide<Result>(command: Command<Result>): Result {
    this.before = new Map();
    try {
      const result = command.decide(this);
      this.afterCommand(this);
      return result;
    } catch (error) {
      this.rollBack();
      command.recordError?.(this, error);
      throw error;
    }
  }

  private rollBack(): void {
    this.before.forEach((value, cell) => {
      cell.value = value;
    });
    this.before = new Map();
  }

  find<Found extends object>(entity: Entity<Found>, id: number): Found | null {
    return this.needed(entity, id).value as Found | null;
  }

  changesOf<Changed extends object>(entity: Entity<Changed>): RowChange<Changed>[] {
    return [...this.before]
      .filter(([{ collection, value }, before]) => collection === entity && !isSame(before, value))
      .map(([{ value }, before]) => ({ before, after: value }) as RowChange<Changed>);
  }

  newId(entity: Entity): number {
    return this.newIds.get(entity)?.shift() ?? missing(`a new id of ${entity.name}`);
  }

  lookUp<Key, Value>(lookup: Lookup<Key, Value>, key: Key): Value {
    return this.needed(lookup, key).value as Value;
  }

  /** Sets the value of a lookup for later commands of the batch, for example a count that includes a new row. */
  setLookup<Key, Value>(lookup: Lookup<Key, Value>, key: Key, value: Value): void {
    this.change(this.needed(lookup, key), value);
  }

  insert<Inserted extends object>(entity: Entity<Inserted>, id: number, row: Inserted): void {
    this.change(this.cells.get(entity)?.get(id) ?? this.addLoaded(entity, id, null), row);
  }

  update<Updated extends object>(entity: Entity<Updated>, id: number, row: Updated): void {
    this.change(this.locked(entity, id, 'FOR NO KEY UPDATE'), row);
  }

  delete(entity: Entity, id: number): void {
    this.change(this.locked(entity, id, 'FOR UPDATE'), null);
  }

  /**
   * Appends a row to a table such as the event feed. Such a row needs no lock, because no command reads or changes it.
   */
  append(insert: Insert, row: readonly unknown[]): void {
    const cell = getOrInsert(this.appended, insert, () => ({ collection: insert, value: [], stored: [] }));
    this.change(cell, [...(cell.value as unknown[][]), row]);
  }

  /**
   * Returns a loaded row that is to be changed.
   * @throws Error if the transaction does not hold `lock` on the row, which is a mistake in the command's `needs`
   */
  private locked(entity: Entity, id: number, lock: RowLock): Cell {
    const cell = this.needed(entity, id);
    return this.meets({ entity, id, lock }) ? cell : missing(`${entity.name} ${id} ${lock}`);
  }

  private needed(collection: { name: string }, key: unknown): Cell {
    return this.cells.get(collection)?.get(key) ?? missing(`${collection.name} ${String(key)}`);
  }

  private change(cell: Cell, value: unknown): void {
    if (!this.before.has(cell)) {
      this.before.set(cell, cell.value);
    }
    cell.value = value;
  }
}

function missing(need: string): never {
  throw new Error(`The needs of the command do not include ${need}.`);
}

function isSame(row: unknown, other: unknown): boolean {
  if (row === null || other === null) {
    return row === other;
  }
  return Object.keys(other as object).every((name) =>
    isEqual(Reflect.get(row as object, name), Reflect.get(other as object, name)),
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (one instanceof Date && other instanceof Date && Number(one) === Number(other));
}
