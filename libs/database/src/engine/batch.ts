import type { EntityTable } from './entity-table';
import { entryOf } from './entry-of';
import type { Waiting } from './queue';
import type { Call, Session, SharedRead } from './session';
import {
  type Command,
  type Entity,
  type Need,
  ROW_LOCKS,
  Rejection,
  type RowNeed,
  type State,
  isAsStrong,
} from './state';

export interface Entry {
  command: Command;
  /** A row that another transaction has locked. The command waits for the row, together with commands that have the same need. */
  heldRow?: RowNeed | undefined;
}

export type QueuedCommand = Entry & Waiting;

/** The tables of a write. */
export interface Tables {
  /** Parents before children: rows are locked and written in this order. */
  readonly order: readonly Entity[];
  of(entity: Entity): EntityTable<object>;
}

const BEGIN: Call = { statement: { text: 'BEGIN' } };
/**
 * A process that is halted in a transaction must not keep its locks; the other timeout ends the wait for a row that is locked
 * elsewhere. Both are settings of the connection, which a pooler may lose.
 */
const SET_TIMEOUTS: Call = {
  statement: {
    text: `SELECT set_config('idle_in_transaction_session_timeout', '10s', true), set_config('lock_timeout', '5s', true)`,
  },
};
const COMMIT: Call = { statement: { text: 'COMMIT' } };
const ROLLBACK: Call = { statement: { text: 'ROLLBACK' } };

/** One transaction, for the commands of a batch. */
interface Transaction {
  session: Session;
  tables: Tables;
  state: State;
  /** The row that the transaction waits for if another one has locked it. Other locked rows are skipped, with their commands. */
  awaited: RowNeed | undefined;
}

/**
 * Runs commands in one transaction, and settles them. The first round trip begins it, locks and loads. Then the commands decide,
 * one after the other. The second round trip writes the changes, table by table, and commits.
 * @returns the commands that were skipped, each with its `heldRow`
 * @throws database errors; no command is settled then
 */
export async function runBatch(
  transaction: Transaction,
  entries: readonly QueuedCommand[],
): Promise<QueuedCommand[]> {
  const { session, state } = transaction;
  try {
    const needs = entries.flatMap(({ command }) => command.needs);
    await load(transaction, strongest(needs), session.isPooled ? [BEGIN, SET_TIMEOUTS] : [BEGIN]);
    await loadSkipped(transaction, needs);
    const settlements: (() => void)[] = [];
    for (const entry of entries) {
      entry.heldRow = heldRowOf(entry.command, state);
      if (entry.heldRow === undefined) {
        settlements.push(decide(entry, state));
      }
    }
    await session.execute(writesOf(transaction));
    settlements.forEach((settle) => settle());
    return entries.filter(({ heldRow }) => heldRow !== undefined);
  } catch (error) {
    // After this reply no statement is in progress any more.
    await session.execute([ROLLBACK]).catch(() => undefined);
    throw error;
  }
}

/**
 * Keeps one need of each row, the one with the strongest lock. A second statement with a weaker lock could return a row that the
 * first one had to skip, with values that another transaction is about to replace.
 */
function strongest(needs: readonly Need[]): Need[] {
  const rows = new Map<string, RowNeed>();
  for (const need of needs.filter(isRow)) {
    const name = nameOf(need);
    if (!isAsStrong(rows.get(name)?.lock, need.lock)) {
      rows.set(name, need);
    }
  }
  return [...needs.filter((need) => !isRow(need)), ...rows.values()];
}

/**
 * Looks once more for the rows that were not found: such a row is absent, or another transaction has locked the row. In the
 * second case a weaker lock may be available, which is enough for some commands. Lookups that belong to the locks are read again.
 */
async function loadSkipped(transaction: Transaction, needs: readonly Need[]): Promise<void> {
  const skipped = needs.filter(isRow).filter((need) => !transaction.state.has(need));
  if (skipped.length > 0) {
    const locks = ROW_LOCKS.toReversed().flatMap((lock) => skipped.filter((need) => need.lock === lock));
    const rows = skipped.map(({ row, id }) => ({ row, id }));
    const lookups = needs.filter((need) => 'lookup' in need && need.lookup.isUnderLocks);
    await load(transaction, [...locks, ...rows, ...lookups]);
  }
}

/** A need, or a row that is looked for without a lock. */
type Wanted = Need | { row: Entity; id: number };

/** How a wanted row or value is loaded. */
interface Source {
  read: SharedRead<unknown, unknown>;
  /** Statements run in the order of their places. */
  place: number;
  keep(key: unknown, value: unknown): void;
}

/** What one statement loads. */
interface Load extends Source {
  keys: Set<unknown>;
}

async function load(
  transaction: Transaction,
  wanted: readonly Wanted[],
  before: readonly Call[] = [],
): Promise<void> {
  const byRead = new Map<object, Load>();
  for (const one of wanted) {
    const source = sourceOf(one, transaction);
    const { keys } = entryOf(byRead, source.read, () => ({ ...source, keys: new Set() }));
    keys.add('row' in one ? one.id : 'lookup' in one ? one.key : keys.size);
  }
  const loads = [...byRead.values()].sort((one, other) => one.place - other.place);
  const calls = loads.map(({ read, keys }) => read.callFor([...keys]));
  const results = await transaction.session.execute([...before, ...calls]);
  loads.forEach(({ read, keys, keep }, index) => {
    const values = read.resultsOf(results[before.length + index]!.rows, [...keys]);
    [...keys].forEach((key, at) => keep(key, values[at]));
  });
}

/** The awaited row is locked before all other rows, so that the transaction holds no row while it waits. */
function sourceOf(wanted: Wanted, { tables, state, awaited }: Transaction): Source {
  const last = tables.order.length;
  if ('lookup' in wanted) {
    const { lookup } = wanted;
    const keep = (key: unknown, value: unknown) => state.load(lookup, key, value);
    return { read: lookup as Source['read'], place: lookup.isUnderLocks ? last : -2, keep };
  }
  if ('newId' in wanted) {
    const keep = (_key: unknown, id: unknown) => state.addNewId(wanted.newId, id as number);
    return { read: tables.of(wanted.newId).newIds, place: last, keep };
  }
  const { row } = wanted;
  const lock = 'lock' in wanted ? wanted.lock : undefined;
  const isAwaited = awaited !== undefined && nameOf(awaited) === nameOf(wanted);
  const table = tables.of(row);
  const read = lock === undefined ? table.byId : table.locked(lock, isAwaited ? 'wait' : 'skip');
  const keep = (id: number, found: unknown): void => {
    // A read without a lock proves only that a row is absent. A read with SKIP LOCKED proves only that a row is there.
    const isCertain = lock === undefined ? found === null : found !== null || isAwaited;
    if (isCertain && !(lock && state.has({ row, id, lock }))) {
      state.load(row, id, found, lock);
    }
  };
  return {
    read: read as Source['read'],
    place: isAwaited ? -1 : tables.order.indexOf(row),
    keep: keep as Source['keep'],
  };
}

/** The row that the command has to wait for. */
function heldRowOf(command: Command, state: State): RowNeed | undefined {
  const row = command.needs.filter(isRow).find((need) => !state.has(need));
  return row !== undefined && command.needsNoRows?.(state) ? undefined : row;
}

/** @returns what answers the command after the commit */
function decide({ command, resolve, reject }: QueuedCommand, state: State): () => void {
  try {
    const result = state.decide(command);
    return () => (result instanceof Rejection ? reject(result.error) : resolve(result));
  } catch (error) {
    return () => reject(error);
  }
}

/** All are built before the first is sent, because an error in one must prevent the commit. */
function writesOf({ tables, state }: Transaction): Call[] {
  const changed = tables.order.map((entity) => ({ table: tables.of(entity), rows: state.writesOf(entity) }));
  const writes = (['insert', 'update', 'delete'] as const).flatMap((change) =>
    changed
      .filter(({ rows }) => rows[change].length > 0)
      .map(({ table, rows }) => table[change](rows[change])),
  );
  const calls = [...writes, ...state.journalWrites()];
  // With nothing to write, a rollback saves the wait for the disk.
  return [...calls, calls.length === 0 ? ROLLBACK : COMMIT];
}

/** The rows that a command shares with no other batch of the process. */
export function exclusiveRowsOf({ needs }: Command): string[] {
  const rows = needs.filter(isRow);
  return rows.filter(({ lock }) => lock !== 'FOR KEY SHARE').map(nameOf);
}

function isRow(need: Need): need is RowNeed {
  return 'row' in need;
}

function nameOf({ row, id }: Pick<RowNeed, 'row' | 'id'>): string {
  return `${row.name} ${id}`;
}
