import type { EntityTable } from './entity-table';
import { getOrInsert } from './get-or-insert';
import type { Waiting } from './queue';
import type { Session, SharedRead, Statement } from './session';
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
import { COMMIT, ROLLBACK, beginning } from './transaction';

export interface Entry {
  command: Command;
  /** The row for which the command waits, because another transaction has locked the row. */
  heldRow?: RowNeed | undefined;
}

export type QueuedCommand = Entry & Waiting;

export interface Tables {
  readonly order: readonly Entity[];
  tableOf(entity: Entity): EntityTable<object>;
}

interface BatchTransaction {
  session: Session;
  tables: Tables;
  state: State;
  /**
   * The only row for which the transaction waits if another transaction has locked the row or a part of the row. Commands
   * that need other rows that are locked are skipped. Undefined if the transaction waits for no row.
   */
  awaited: RowNeed | undefined;
}

/**
 * Runs commands in one transaction of two round trips: the first locks and loads rows, the second writes the changes
 * and commits.
 * @returns the commands that were skipped because another transaction has locked a row
 * @throws the database error; the promises of the commands are then still pending, and the transaction may be open
 */
export async function runBatch(
  transaction: BatchTransaction,
  entries: readonly QueuedCommand[],
): Promise<QueuedCommand[]> {
  const { session, state } = transaction;
  const needs = entries.flatMap(({ command }) => command.needs);
  await load(transaction, strongest(needs), beginning(session));
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
}

/**
 * Keeps one need for each row: the one with the strongest lock that any command of the batch needs. This lock serves all
 * commands that need the row, so the row is locked by one statement. Needs that are no rows are kept.
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
 * Tries once more to lock and load the rows that another transaction had locked, because some commands need a weaker lock
 * than the first attempt did. That attempt used the strongest lock that any command of the batch needs.
 */
async function loadSkipped(transaction: BatchTransaction, needs: readonly Need[]): Promise<void> {
  const skipped = needs.filter(isRow).filter((need) => !transaction.state.has(need));
  if (skipped.length > 0) {
    const locks = ROW_LOCKS.toReversed().flatMap((lock) => skipped.filter((need) => need.lock === lock));
    const rows = skipped.map(({ entity, id }) => ({ entity, id }));
    // Load again what may have changed before these locks: parts of the rows, and lookups that have to run under locks.
    const underLocks = needs.filter(
      (need) => 'part' in need || ('lookup' in need && need.lookup.isUnderLocks),
    );
    await load(transaction, [...locks, ...rows, ...underLocks]);
  }
}

/** The lock on a part, which commands take after the lock on its whole. */
const PART_LOCK = 'FOR NO KEY UPDATE';

/** What to load: something that a command needs, or a row without a lock, to see whether the row exists. */
type Wanted = Need | { entity: Entity; id: number };

interface Loader {
  read: SharedRead<unknown, unknown>;
  /** The statements of a round trip are sent in ascending order of `place`. */
  place: number;
  /** Adds to the state what the statement has returned for a row id or for the key of a lookup. */
  add(key: unknown, result: unknown): void;
}

interface Load extends Loader {
  keys: Set<unknown>;
}

async function load(
  transaction: BatchTransaction,
  wanted: readonly Wanted[],
  before: readonly Statement[] = [],
): Promise<void> {
  const byRead = new Map<object, Load>();
  for (const one of wanted) {
    const loader = loaderOf(one, transaction);
    const { keys } = getOrInsert(byRead, loader.read, () => ({ ...loader, keys: new Set() }));
    keys.add('id' in one ? one.id : 'lookup' in one ? one.key : keys.size);
  }
  const loads = [...byRead.values()].sort((one, other) => one.place - other.place);
  const statements = loads.map(({ read, keys }) => read.statementFor([...keys]));
  const results = await transaction.session.execute([...before, ...statements]);
  loads.forEach(({ read, keys, add }, index) => {
    const found = read.resultsOf(results[before.length + index]!.rows, [...keys]);
    [...keys].forEach((key, at) => add(key, found[at]));
  });
}

/**
 * Returns how to load a row or the value of a lookup, or how to draw a new id. The row `awaited` and then its parts are
 * locked before all other rows, and the statements wait if another transaction has locked these rows. For all other rows,
 * the statement returns only the rows that no other transaction has locked, and does not wait. The commands that need the
 * omitted rows are skipped.
 */
function loaderOf(wanted: Wanted, { tables, state, awaited }: BatchTransaction): Loader {
  const last = tables.order.length;
  if ('lookup' in wanted) {
    const { lookup } = wanted;
    const add = (key: unknown, value: unknown) => state.addLoaded(lookup, key, value);
    return { read: lookup as Loader['read'], place: lookup.isUnderLocks ? last : -2, add };
  }
  if ('newId' in wanted) {
    const add = (_key: unknown, id: unknown) => state.addNewId(wanted.newId, id as number);
    return { read: tables.tableOf(wanted.newId).newIds, place: last, add };
  }
  if ('part' in wanted) {
    const { part, whole, id } = wanted;
    const isAwaited = awaited !== undefined && nameOf(awaited) === nameOf({ entity: whole, id });
    const read = tables.tableOf(part).locked(PART_LOCK, isAwaited ? 'wait' : 'skip');
    const add = (key: unknown, found: unknown) =>
      state.addLoadedPart({ part, whole, id: key as number }, found, isAwaited);
    const place = isAwaited ? -0.5 : tables.order.indexOf(part);
    return { read: read as Loader['read'], place, add };
  }
  const { entity } = wanted;
  const lock = 'lock' in wanted ? wanted.lock : undefined;
  const isAwaited = awaited !== undefined && nameOf(awaited) === nameOf(wanted);
  const table = tables.tableOf(entity);
  const read = lock === undefined ? table.byId : table.locked(lock, isAwaited ? 'wait' : 'skip');
  const add = (id: number, found: unknown): void => {
    // If no row was found, the row does not exist, unless the statement skips rows that another transaction has locked.
    const isMissing = found === null && (lock === undefined || isAwaited);
    // A row without a lock is not added, because another transaction could change the row after the command has decided.
    const isLocked = found !== null && lock !== undefined;
    const isKnown = lock !== undefined && state.has({ entity, id, lock });
    if ((isMissing || isLocked) && !isKnown) {
      state.addLoaded(entity, id, found, lock);
    }
  };
  return {
    read: read as Loader['read'],
    place: isAwaited ? -1 : tables.order.indexOf(entity),
    add: add as Loader['add'],
  };
}

/**
 * Returns the row for which the command has to wait, because another transaction has locked the row or a part of the row.
 */
function heldRowOf(command: Command, state: State): RowNeed | undefined {
  const { needs } = command;
  const isPartHeld = ({ entity, id }: RowNeed): boolean =>
    needs.some((need) => 'part' in need && need.whole === entity && need.id === id && !state.hasPart(need));
  const row = needs.filter(isRow).find((need) => !state.has(need) || isPartHeld(need));
  return row !== undefined && command.needsNoRows?.(state) ? undefined : row;
}

/**
 * Runs the `decide` function of the command.
 * @returns a function that resolves or rejects the command's promise, to call after the commit
 */
function decide({ command, resolve, reject }: QueuedCommand, state: State): () => void {
  try {
    const result = state.decide(command);
    return () => (result instanceof Rejection ? reject(result.error) : resolve(result));
  } catch (error) {
    return () => reject(error);
  }
}

/**
 * Returns the statements that end the transaction of the batch: the statements that write the changes, and then COMMIT. If
 * nothing has changed, ROLLBACK is the only statement. All statements are built before the first one is sent, so that an
 * error while building a statement prevents the commit.
 */
function writesOf({ tables, state }: BatchTransaction): Statement[] {
  const changed = tables.order.map((entity) => ({
    table: tables.tableOf(entity),
    rows: state.writesOf(entity),
  }));
  const writes = (['insert', 'update', 'delete'] as const).flatMap((change) =>
    changed
      .filter(({ rows }) => rows[change].length > 0)
      .map(({ table, rows }) => table[change](rows[change])),
  );
  const statements = [...writes, ...state.appends()];
  // If there is nothing to write, ROLLBACK ends the transaction without COMMIT's wait for the disk.
  return [...statements, statements.length === 0 ? ROLLBACK : COMMIT];
}

/**
 * Returns a text such as `Account 7` for each row that the command locks for changes. Two commands must not run at once in
 * different transactions if they have such a row in common.
 */
export function exclusiveRowsOf({ needs }: Command): string[] {
  const rows = needs.filter(isRow);
  return rows.filter(({ lock }) => lock !== 'FOR KEY SHARE').map(nameOf);
}

function isRow(need: Need): need is RowNeed {
  return 'entity' in need;
}

function nameOf({ entity, id }: Pick<RowNeed, 'entity' | 'id'>): string {
  return `${entity.name} ${id}`;
}
