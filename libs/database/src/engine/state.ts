// Commands, and the state that they decide on.
import { entryOf } from './entry-of';
import type { Call, SharedRead } from './session';

/** The class of an entity. */
export type Entity<Row extends object = object> = new () => Row;

/** A value for each key that a statement of its own reads, before any row is locked. */
export interface Lookup<Key, Value> extends SharedRead<Key, Value> {
  /** For errors. */
  name: string;
  /** The statement runs after the rows are locked, so that the value includes what earlier holders of the locks have committed. */
  isUnderLocks?: true;
}

/** Row-level locks of PostgreSQL, the weakest first. Each includes those before it. */
export const ROW_LOCKS = ['FOR KEY SHARE', 'FOR NO KEY UPDATE', 'FOR UPDATE'] as const;
export type RowLock = (typeof ROW_LOCKS)[number];

/** True if a lock is held and includes the other lock. */
export function isAsStrong(lock: RowLock | undefined, other: RowLock): boolean {
  return lock !== undefined && ROW_LOCKS.indexOf(lock) >= ROW_LOCKS.indexOf(other);
}

/** Data that a command needs before it can decide. */
export type Need =
  | RowNeed
  | { lookup: Lookup<never, unknown>; key: unknown }
  /** A new id for an insert. */
  | { newId: Entity };

export interface RowNeed {
  row: Entity;
  id: number;
  lock: RowLock;
}

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

/** An append-only table. Its module defines how the entries of a batch are written. */
export interface Journal<Entry extends object = object> {
  /** @param entries at least one, in the order in which they were added */
  write(entries: readonly Entry[]): Call[];
}

type Change = 'insert' | 'update' | 'delete';

/** A changed row before and after a command; null if it does not exist. */
export interface RowChange<Changed extends object = object> {
  before: Changed | null;
  after: Changed | null;
}

/** A row (null if it does not exist) or the value of a lookup. A change replaces it, and never changes the object. */
interface Cell {
  of: object;
  value: unknown;
  /** As the database has it. */
  readonly stored: unknown;
  /** The lock that the batch holds on the row. A command that needs a stronger lock is not decided in the batch. */
  readonly lock?: RowLock | undefined;
}

/** What a batch has loaded, with the changes of the commands that have decided. */
export class State {
  /** By entity or lookup, and by key. */
  private readonly cells = new Map<object, Map<unknown, Cell>>();
  private readonly newIds = new Map<Entity, number[]>();
  /** What is added to each journal. */
  private readonly journals = new Map<Journal, Cell>();
  /** What the current command has changed, with the values before it. */
  private before = new Map<Cell, unknown>();

  /**
   * @param now the time of the batch
   * @param afterCommand called after each command; reads what it changed, and may add to journals
   */
  constructor(
    readonly now: Date,
    private readonly afterCommand: (state: State) => void = () => undefined,
  ) {}

  /** For the batch: a value of a lookup or a row that it has loaded, and the lock that it holds on the row. */
  load(of: object, key: unknown, stored: unknown, lock?: RowLock): Cell {
    const cell = { of, value: stored, stored, lock };
    entryOf(this.cells, of, () => new Map<unknown, Cell>()).set(key, cell);
    return cell;
  }

  /** For the batch: true if a row is locked as needed, or is known to be absent. */
  has({ row, id, lock }: RowNeed): boolean {
    const cell = this.cells.get(row)?.get(id);
    return cell !== undefined && (cell.stored === null || isAsStrong(cell.lock, lock));
  }

  /** For the batch. Ids are used in the order in which they are added. */
  addNewId(entity: Entity, id: number): void {
    entryOf(this.newIds, entity, () => []).push(id);
  }

  /** For the batch: the rows of an entity to write. */
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

  /** For the batch: the statements that write what was added to journals. */
  journalWrites(): Call[] {
    const journals = [...this.journals].map(([journal, { value }]) => [journal, value as object[]] as const);
    return journals.flatMap(([journal, entries]) => (entries.length > 0 ? journal.write(entries) : []));
  }

  /** Runs a command's decision. Takes its changes back if it throws. */
  decide<Result>(command: Pick<Command<Result>, 'decide'>): Result {
    this.before = new Map();
    try {
      const result = command.decide(this);
      this.afterCommand(this);
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Takes back what the current command has done so far. */
  rollBack(): void {
    this.before.forEach((value, cell) => {
      cell.value = value;
    });
    this.before = new Map();
  }

  /** The row, or null if it does not exist. @throws Error for a row that is not among the command's needs */
  find<Found extends object>(entity: Entity<Found>, id: number): Found | null {
    return this.needed(entity, id).value as Found | null;
  }

  /** The rows that this command has changed. */
  changesOf<Changed extends object>(entity: Entity<Changed>): RowChange<Changed>[] {
    return [...this.before]
      .filter(([{ of, value }, before]) => of === entity && !isSame(before, value))
      .map(([{ value }, before]) => ({ before, after: value }) as RowChange<Changed>);
  }

  newId(entity: Entity): number {
    const id = this.newIds.get(entity)?.shift();
    if (id === undefined) {
      throw new Error(`The needs of the command do not include a new id of ${entity.name}.`);
    }
    return id;
  }

  /** @throws Error for a value that is not among the command's needs */
  lookUp<Key, Value>(lookup: Lookup<Key, Value>, key: Key): Value {
    return this.needed(lookup, key).value as Value;
  }

  /** Tells later commands of the batch what a lookup would find now, if it was loaded. */
  note<Key, Value>(lookup: Lookup<Key, Value>, key: Key, value: Value): void {
    const cell = this.cells.get(lookup)?.get(key);
    if (cell !== undefined) {
      this.change(cell, value);
    }
  }

  insert<Inserted extends object>(entity: Entity<Inserted>, id: number, row: Inserted): void {
    this.change(this.cells.get(entity)?.get(id) ?? this.load(entity, id, null), row);
  }

  update<Updated extends object>(entity: Entity<Updated>, id: number, row: Updated): void {
    this.change(this.locked(entity, id, 'FOR NO KEY UPDATE'), row);
  }

  delete(entity: Entity, id: number): void {
    this.change(this.locked(entity, id, 'FOR UPDATE'), null);
  }

  /** Adds to a journal. */
  append<Entry extends object>(journal: Journal<Entry>, entry: Entry): void {
    const cell = entryOf(this.journals, journal as Journal, () => ({ of: journal, value: [], stored: [] }));
    this.change(cell, [...(cell.value as Entry[]), entry]);
  }

  /** @throws Error if the batch does not hold the lock, for which the statement would have to wait */
  private locked(row: Entity, id: number, lock: RowLock): Cell {
    const cell = this.needed(row, id);
    if (!this.has({ row, id, lock })) {
      throw new Error(`The needs of the command do not include ${row.name} ${id} ${lock}.`);
    }
    return cell;
  }

  private needed(of: { name: string }, key: unknown): Cell {
    const cell = this.cells.get(of)?.get(key);
    if (cell === undefined) {
      throw new Error(`The needs of the command do not include ${of.name} ${String(key)}.`);
    }
    return cell;
  }

  private change(cell: Cell, value: unknown): void {
    if (!this.before.has(cell)) {
      this.before.set(cell, cell.value);
    }
    cell.value = value;
  }
}

/** For rows whose columns have the same values. */
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
