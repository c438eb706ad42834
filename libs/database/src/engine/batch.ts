import type { EntityTable, WhenLocked } from './entity-table';
import { entryOf } from './entry-of';
import type { Waiting } from './queue';
import type { Call, Session, SharedRead } from './session';
import { type Command, type Entity, type Need, Rejection, type RowNeed, type State } from './state';

export interface Entry {
  command: Command;
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
  /** Wait for rows that another transaction has locked, or skip their commands. */
  whenLocked: WhenLocked;
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
    await load(transaction, needs, session.isPooled ? [BEGIN, SET_TIMEOUTS] : [BEGIN]);
    const held = await lockedElsewhere(transaction, needs);
    const settlements: (() => void)[] = [];
    for (const entry of entries) {
      entry.heldRow = heldRowOf(entry.command, state, held);
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

/** What one statement loads. */
interface Load {
  read: SharedRead<unknown, unknown>;
  keys: Set<unknown>;
  /** One of those that it is for. */
  need: Need;
}

async function load(
  { session, tables, state, whenLocked }: Transaction,
  needs: readonly Need[],
  before: readonly Call[] = [],
): Promise<void> {
  const byRead = new Map<object, Load>();
  for (const need of needs) {
    const read = readFor(need, tables, whenLocked);
    const { keys } = entryOf(byRead, read, () => ({ read, keys: new Set(), need }));
    keys.add('row' in need ? need.id : 'lookup' in need ? need.key : keys.size);
  }
  const place = ({ need }: Load) => placeOf(need, tables.order);
  const loads = [...byRead.values()].sort((one, other) => place(one) - place(other));
  const calls = loads.map(({ read, keys }) => read.callFor([...keys]));
  const results = await session.execute([...before, ...calls]);
  loads.forEach(({ read, keys, need }, index) => {
    const values = read.resultsOf(results[before.length + index]!.rows, [...keys]);
    if ('newId' in need) {
      state.loadNewIds(need.newId, values as number[]);
    } else {
      const of = 'row' in need ? need.row : need.lookup;
      [...keys].forEach((key, at) => state.load(of, key, values[at]));
    }
  });
}

function readFor(need: Need, tables: Tables, whenLocked: WhenLocked): SharedRead<unknown, unknown> {
  if ('lookup' in need) {
    return need.lookup as SharedRead<unknown, unknown>;
  }
  if ('newId' in need) {
    return tables.of(need.newId).newIds;
  }
  const { row, lock } = need;
  const read = lock === undefined ? tables.of(row).byId : tables.of(row).locked(lock, whenLocked);
  return read as SharedRead<unknown, unknown>;
}

/** Lookups, rows in the order of their locks, new ids. */
function placeOf(need: Need, order: readonly Entity[]): number {
  if ('lookup' in need) {
    return -1;
  }
  return 'row' in need ? order.indexOf(need.row) : order.length;
}

/** A row that was skipped, and is there without a lock, is locked by another transaction. @returns the names of such rows */
async function lockedElsewhere(transaction: Transaction, needs: readonly Need[]): Promise<Set<string>> {
  const isMissing = ({ row, id }: RowNeed) => transaction.state.find(row, id) === null;
  const missing = transaction.whenLocked === 'skip' ? needs.filter(isLock).filter(isMissing) : [];
  if (missing.length === 0) {
    return new Set();
  }
  await load(
    transaction,
    missing.map(({ row, id }) => ({ row, id })),
  );
  return new Set(missing.filter((need) => !isMissing(need)).map(nameOf));
}

/** The row that the command has to wait for. */
function heldRowOf(command: Command, state: State, held: ReadonlySet<string>): string | undefined {
  const names = held.size === 0 ? [] : command.needs.filter(isLock).map(nameOf);
  const row = names.find((name) => held.has(name));
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
  return needs
    .filter((need) => isLock(need) && need.lock !== 'FOR KEY SHARE')
    .map((need) => nameOf(need as RowNeed));
}

function isLock(need: Need): need is RowNeed {
  return 'row' in need && need.lock !== undefined;
}

function nameOf({ row, id }: RowNeed): string {
  return `${row.name} ${id}`;
}
