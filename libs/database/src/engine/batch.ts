import type { EntityTable, Locking, RowLock } from './entity-table';
import type { Call, Statement, StoredRow } from './pipeline';
import type { Waiting } from './queue';
import type { Session } from './session';
import {
  type Change,
  type Command,
  type Entity,
  type Journal,
  type Lookup,
  type Need,
  type Origin,
  Rejection,
  type State,
} from './state';

/** A command to run, with the rows that it locks; only one batch at a time may work on the exclusive ones. */
export interface Entry {
  command: Command;
  origin: Origin;
  lockedRows: string[];
  exclusiveRows: string[];
  /** A row that another transaction has locked: the command waits for it, and no other command does. */
  heldRow?: string | undefined;
}

export type QueuedCommand = Entry & Waiting;

/** The tables of a write. */
export interface Tables {
  /** Parents before children: rows are locked and written in this order. */
  readonly order: readonly Entity[];
  of(entity: Entity): EntityTable<object>;
}

/** What is loaded in the first round trip: a call, and who takes its rows. */
interface Load {
  call: Call;
  take(rows: readonly StoredRow[]): void;
}

const BEGIN: Statement = { text: 'BEGIN' };
/**
 * A process that is halted in a transaction must not keep its locks; the other timeout ends the wait for a row that is locked
 * elsewhere. Both are settings of the connection, which a pooler may lose.
 */
const SET_TIMEOUTS: Statement = {
  text: `SELECT set_config('idle_in_transaction_session_timeout', '10s', true), set_config('lock_timeout', '5s', true)`,
};
const COMMIT: Statement = { text: 'COMMIT' };
const ROLLBACK: Statement = { text: 'ROLLBACK' };

export function entryFor(command: Command, origin: Origin): Entry {
  const entry: Entry = { command, origin, lockedRows: [], exclusiveRows: [] };
  for (const need of command.needs) {
    if ('row' in need && need.lock !== undefined) {
      const name = nameOf(need.row, need.id);
      entry.lockedRows.push(name);
      if (need.lock !== 'FOR KEY SHARE') {
        entry.exclusiveRows.push(name);
      }
    }
  }
  return entry;
}

/**
 * Runs several commands in one transaction. The first round trip begins it, locks and loads. Then the commands decide, one
 * after the other. The second round trip writes the changes, table by table, and commits.
 */
export class Batch {
  private readonly settlements: (() => void)[] = [];
  /** Rows that could not be locked: they are locked elsewhere, or do not exist. */
  private readonly missing: [entity: Entity, ids: number[]][] = [];

  /** @param whenLocked wait for rows that another transaction has locked, or skip their commands */
  constructor(
    private readonly session: Session,
    private readonly tables: Tables,
    private readonly entries: readonly QueuedCommand[],
    private readonly whenLocked: Locking['whenLocked'],
    private readonly state: State,
  ) {}

  /**
   * Runs the transaction and settles its commands.
   * @returns the commands that were skipped, each with its `heldRow`
   * @throws database errors; no command is settled then
   */
  async execute(): Promise<QueuedCommand[]> {
    try {
      await this.load();
      const lockedElsewhere = this.whenLocked === 'skip' ? await this.rowsLockedElsewhere() : undefined;
      const skipped = this.decideAll(lockedElsewhere);
      await this.session.execute(this.writes());
      this.settlements.forEach((settle) => settle());
      return skipped;
    } catch (error) {
      // After this reply no statement is in progress any more.
      await this.session.execute([{ statement: ROLLBACK }]).catch(() => undefined);
      throw error;
    }
  }

  private async load(): Promise<void> {
    const loads = this.loads();
    const begin = this.session.isPooled
      ? [{ statement: BEGIN }, { statement: SET_TIMEOUTS }]
      : [{ statement: BEGIN }];
    const results = await this.session.execute([...begin, ...loads.map(({ call }) => call)]);
    loads.forEach(({ take }, index) => take(results[begin.length + index]!.rows));
  }

  private loads(): Load[] {
    const { rows, lookups, newIds } = needsOf(this.entries);
    const [before, locked, after, ids]: [Load[], Load[], Load[], Load[]] = [[], [], [], []];
    for (const [lookup, keys] of lookups) {
      (lookup.isBeforeRows ? before : after).push(this.loadLookup(lookup, [...keys]));
    }
    for (const entity of this.tables.order) {
      rows.get(entity)?.forEach((keys, lock) => locked.push(this.loadRows(entity, [...keys], lock)));
    }
    newIds.forEach((count, entity) => ids.push(this.loadNewIds(entity, count)));
    return [...before, ...locked, ...after, ...ids];
  }

  private loadLookup(lookup: Lookup<unknown, unknown>, keys: unknown[]): Load {
    return {
      call: lookup.callFor(keys),
      take: (rows) =>
        lookup.resultsOf(rows, keys).forEach((value, index) => {
          this.state.batch.lookups.set(lookup, keys[index], value);
        }),
    };
  }

  private loadRows(entity: Entity, ids: number[], lock: RowLock | undefined): Load {
    const table = this.tables.of(entity);
    return {
      call: table.load(ids, lock && { lock, whenLocked: this.whenLocked }),
      take: (stored) => {
        const { rows } = this.state.batch;
        const found = stored.map((one) => table.rowOf(one));
        found.forEach((row) => rows.set(entity, table.idOf(row), row));
        if (found.length < ids.length) {
          const absent = without(ids, new Set(found.map((row) => table.idOf(row))));
          absent
            .filter((id) => rows.get(entity, id) === undefined)
            .forEach((id) => rows.set(entity, id, null));
          if (lock !== undefined) {
            this.missing.push([entity, absent]);
          }
        }
      },
    };
  }

  private loadNewIds(entity: Entity, count: number): Load {
    return {
      call: this.tables.of(entity).newIds(count),
      // `newId` pops, so the smallest id is used first.
      take: (rows) => this.state.batch.newIds.set(entity, rows.map(([id]) => id as number).reverse()),
    };
  }

  /** Those of the missing rows that exist, and are therefore locked by another transaction; undefined if there are none. */
  private async rowsLockedElsewhere(): Promise<Set<string> | undefined> {
    if (this.missing.length === 0) {
      return undefined;
    }
    const held = new Set<string>();
    const calls = this.missing.map(([entity, ids]) => this.tables.of(entity).load(ids));
    const results = await this.session.execute(calls);
    this.missing.forEach(([entity], index) => {
      const table = this.tables.of(entity);
      results[index]!.rows.forEach((row) => held.add(nameOf(entity, table.idOf(table.rowOf(row)))));
    });
    return held;
  }

  /** @returns the commands that need one of these rows, which did not decide */
  private decideAll(lockedElsewhere: ReadonlySet<string> | undefined): QueuedCommand[] {
    for (const entry of this.entries) {
      entry.heldRow = lockedElsewhere && entry.lockedRows.find((row) => lockedElsewhere.has(row));
      if (entry.heldRow !== undefined && entry.command.needsNoRows?.(this.state)) {
        entry.heldRow = undefined;
      }
      if (entry.heldRow === undefined) {
        this.decide(entry);
      }
    }
    return this.entries.filter(({ heldRow }) => heldRow !== undefined);
  }

  private decide({ command, resolve, reject }: QueuedCommand): void {
    try {
      const result = this.state.decide(command);
      this.settlements.push(() => (result instanceof Rejection ? reject(result.error) : resolve(result)));
    } catch (error) {
      this.settlements.push(() => reject(error));
    }
  }

  /** All are built before the first is sent, because an error in one must prevent the commit. */
  private writes(): Call[] {
    const writes = { inserted: [] as Call[], updated: [] as Call[], deleted: [] as Call[] };
    for (const entity of this.tables.order) {
      for (const [change, ids] of idsByChange(this.state.batch.changes.of(entity))) {
        writes[change].push(this.writeOf(entity, change, ids));
      }
    }
    const entries = new Map<Journal, object[]>();
    for (const { journal, entry } of this.state.batch.appended) {
      entryOf(entries, journal, () => []).push(entry);
    }
    const journals = [...entries].flatMap(([journal, added]) => journal.write(added));
    const all = [...writes.inserted, ...writes.updated, ...writes.deleted, ...journals];
    // With nothing to write, a rollback saves the wait for the disk.
    all.push({ statement: all.length === 0 ? ROLLBACK : COMMIT });
    return all;
  }

  private writeOf(entity: Entity, change: Change, ids: readonly number[]): Call {
    const table = this.tables.of(entity);
    if (change === 'deleted') {
      return table.delete(ids);
    }
    const rows = ids.map((id) => this.state.batch.rows.get(entity, id)!);
    return change === 'inserted' ? table.insert(rows) : table.update(rows);
  }
}

function idsByChange(changes: ReadonlyMap<number, Change>): Map<Change, number[]> {
  const ids = new Map<Change, number[]>();
  changes.forEach((change, id) => entryOf(ids, change, () => []).push(id));
  return ids;
}

/** What the commands of a batch need, grouped by the statement that loads it. */
function needsOf(entries: readonly Entry[]) {
  const rows = new Map<Entity, Map<RowLock | undefined, Set<number>>>();
  const lookups = new Map<Lookup<unknown, unknown>, Set<unknown>>();
  const newIds = new Map<Entity, number>();
  const add = (need: Need): void => {
    if ('row' in need) {
      const locks = entryOf(rows, need.row, () => new Map<RowLock | undefined, Set<number>>());
      entryOf(locks, need.lock, () => new Set<number>()).add(need.id);
    } else if ('lookup' in need) {
      entryOf(lookups, need.lookup as Lookup<unknown, unknown>, () => new Set()).add(need.key);
    } else {
      newIds.set(need.newId, (newIds.get(need.newId) ?? 0) + 1);
    }
  };
  entries.forEach(({ command }) => command.needs.forEach(add));
  return { rows, lookups, newIds };
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

function without(ids: readonly number[], found: ReadonlySet<number>): number[] {
  return ids.filter((id) => !found.has(id));
}

function nameOf(entity: Entity, id: number): string {
  return `${entity.name} ${id}`;
}
