import { getOrInsert } from './get-or-insert';
import type { Queued } from './queue';
import type { Session, SharedRead, Statement, StoredRow } from './session';
import {
  type Command,
  type Entity,
  type Lookup,
  type LookupNeed,
  type Need,
  type NewIdNeed,
  type RowNeed,
  type State,
  isAsStrong,
} from './state';
import { COMMIT, type EngineDatabase, ROLLBACK, beginning } from './transaction';

export interface CommandEntry {
  readonly command: Command;
  /** The rows that the command may change (see `exclusiveRowsOf`). */
  readonly exclusiveRows: readonly string[];
  /**
   * Empty until a batch skips the command because another transaction has locked one of the rows that the command
   * needs. The list then has this row and, before it, the rows that come earlier in `needs`. The next batch with the
   * command waits until it has locked all rows of this list.
   */
  readonly awaitedRows: readonly RowNeed[];
}

export type QueuedCommand = Queued<CommandEntry>;

interface BatchTransaction {
  database: EngineDatabase;
  session: Session;
  /** The entities in the order in which their rows are locked and written. */
  tables: readonly Entity[];
  state: State;
  /**
   * The rows for which the transaction waits if another transaction has locked these rows. The transaction does not
   * wait for other rows. If another transaction has locked one of them, the commands that need this row are skipped,
   * and run in a later batch.
   */
  awaitedRows: readonly RowNeed[];
}

/**
 * Runs commands in one transaction of two round trips: the first locks and loads rows, the second writes the changes
 * and commits.
 * @returns the commands that were skipped, that is, not run, because another transaction has locked a row that the
 * command needs. Each has its new `awaitedRows`
 * @throws the database error; the promises of the commands are then still pending, and the transaction may be open
 */
export async function runBatch(
  transaction: BatchTransaction,
  commands: readonly QueuedCommand[],
): Promise<QueuedCommand[]> {
  const { session, state } = transaction;
  const needs = commands.flatMap(({ item }) => item.command.needs);
  await load(session, firstLoads(transaction, needs), beginning(session));
  await findAbsent(transaction, needs);
  const settlements: (() => void)[] = [];
  const skipped: QueuedCommand[] = [];
  for (const queued of commands) {
    const awaitedRows = awaitedRowsOf(queued.item.command, state);
    if (awaitedRows.length === 0) {
      settlements.push(decide(queued, state));
    } else {
      skipped.push({ ...queued, item: { ...queued.item, awaitedRows } });
    }
  }
  await session.execute(endingStatements(transaction));
  settlements.forEach((settle) => settle());
  return skipped;
}

/** A statement, and the function that adds the result of the statement to the state. */
interface Load {
  statement: Statement;
  add(rows: readonly StoredRow[]): void;
}

async function load(
  session: Session,
  loads: readonly Load[],
  before: readonly Statement[] = [],
): Promise<void> {
  const results = await session.execute([...before, ...loads.map(({ statement }) => statement)]);
  loads.forEach(({ add }, index) => add(results[before.length + index]!.rows));
}

/**
 * Returns what the first round trip loads, in the order of the statements. Awaited rows are locked before all other rows, so
 * that the transaction holds no other row while it waits.
 */
function firstLoads(transaction: BatchTransaction, needs: readonly Need[]): Load[] {
  const lookups = needs.filter((need) => 'lookup' in need);
  const underLocks = lookups.filter(({ lookup }) => lookup.isUnderLocks);
  const beforeLocks = lookups.filter(({ lookup }) => !lookup.isUnderLocks);
  const { tables } = transaction;
  const rows = strongest(needs.filter(isRow)).sort(
    (one, other) => tables.indexOf(one.entity) - tables.indexOf(other.entity),
  );
  const awaited = rows.filter((row) => transaction.awaitedRows.some((other) => isSameRow(row, other)));
  const others = rows.filter((row) => !awaited.includes(row));
  const newIds = needs.filter((need) => 'newId' in need);
  return [
    ...loadsOfLookups(transaction, beforeLocks),
    ...loadsOfRows(transaction, awaited, 'wait'),
    ...loadsOfRows(transaction, others, 'skip'),
    ...loadsOfLookups(transaction, underLocks),
    ...loadsOfNewIds(transaction, newIds),
  ];
}

/**
 * Returns one entry for each row, with the strongest lock that any command of the batch needs. This lock serves all
 * commands that need the row, so one statement locks the row.
 */
function strongest(needs: readonly RowNeed[]): RowNeed[] {
  const rows = new Map<string, RowNeed>();
  for (const need of needs) {
    const name = nameOf(need);
    if (!isAsStrong(rows.get(name)?.lock, need.lock)) {
      rows.set(name, need);
    }
  }
  return [...rows.values()];
}

function loadsOfLookups({ state }: BatchTransaction, needs: readonly LookupNeed[]): Load[] {
  return groupBy(needs, ({ lookup }) => lookup as Lookup<unknown, unknown>).map(([lookup, same]) => {
    const keys = [...new Set(same.map(({ key }) => key))];
    return loadOf(lookup, keys, (key, value) => state.addLoaded(lookup, key, value));
  });
}

/** Locks and loads rows. If `whenLocked` is `skip`, rows that another transaction has locked are not loaded. */
function loadsOfRows(
  { database, state }: BatchTransaction,
  needs: readonly RowNeed[],
  whenLocked: 'wait' | 'skip',
): Load[] {
  const readOf = ({ entity, lock }: RowNeed) => database.table(entity).locked(lock, whenLocked);
  return groupBy(needs, readOf).map(([read, same]) => {
    const { entity, lock } = same[0]!;
    return loadOf(read, idsOf(same), (id, row) => {
      // A row that was not found is locked or does not exist. `findAbsent` finds out which of the two is true.
      if (row !== null) {
        state.addLoaded(entity, id, row, lock);
      }
    });
  });
}

function loadsOfNewIds({ database, state }: BatchTransaction, needs: readonly NewIdNeed[]): Load[] {
  return groupBy(needs, ({ newId }) => newId).map(([entity, { length }]) => ({
    statement: database.table(entity).newIds(length),
    add: (rows) => rows.forEach(([id]) => state.addNewId(entity, id as number)),
  }));
}

/**
 * Finds out why rows are missing after the reads with locks. Such a read skips a row that another transaction has locked. So
 * this function reads the missing rows once more, without locks. If a row is missing again, it does not exist, and the state
 * gets null for the row. If a row is there, another transaction has locked it and may change it, so the row is not added to
 * the state.
 */
async function findAbsent(
  { database, session, state }: BatchTransaction,
  needs: readonly Need[],
): Promise<void> {
  const missing = strongest(needs.filter(isRow).filter((need) => !state.meets(need)));
  const loads = groupBy(missing, ({ entity }) => entity).map(([entity, same]) =>
    loadOf(database.table(entity).byId, idsOf(same), (id, row) => {
      if (row === null) {
        state.addLoaded(entity, id, null);
      }
    }),
  );
  if (loads.length > 0) {
    await load(session, loads);
  }
}

function loadOf<Key, Result>(
  read: SharedRead<Key, Result>,
  keys: readonly Key[],
  add: (key: Key, result: Result) => void,
): Load {
  return {
    statement: read.statementFor(keys),
    add: (rows) => read.resultsOf(rows, keys).forEach((result, at) => add(keys[at]!, result)),
  };
}

/**
 * Returns the rows for which the command has to wait: the first row in `needs` that another transaction has locked, and
 * all rows before it in `needs`. All transactions lock rows in the order of `needs`, because two transactions that lock the
 * same rows in different orders can wait for each other forever. Returns no rows if the command can decide at once.
 */
function awaitedRowsOf(command: Command, state: State): RowNeed[] {
  const rows = command.needs.filter(isRow);
  const lockedAt = rows.findIndex((need) => !state.meets(need));
  const isReady = lockedAt === -1 || command.needsNoRows?.(state) === true;
  return isReady ? [] : rows.slice(0, lockedAt + 1);
}

/**
 * Runs the `decide` function of the command.
 * @returns a function that resolves or rejects the command's promise, to call after the commit
 */
function decide({ item, resolve, reject }: QueuedCommand, state: State): () => void {
  try {
    const result = state.decide(item.command);
    return () => resolve(result);
  } catch (error) {
    return () => reject(error);
  }
}

/**
 * Returns the statements that end the transaction of the batch: the statements that write the changes, and then COMMIT. If
 * nothing has changed, ROLLBACK is the only statement. All statements are built before the first one is sent, so that an
 * error while building a statement prevents the commit.
 */
function endingStatements({ database, tables, state }: BatchTransaction): Statement[] {
  const changed = tables.map((entity) => ({
    table: database.table(entity),
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

function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): [Key, Item[]][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    getOrInsert(groups, keyOf(item), () => []).push(item);
  }
  return [...groups];
}

function isRow(need: Need): need is RowNeed {
  return 'entity' in need;
}

function idsOf(rows: readonly RowNeed[]): number[] {
  return rows.map(({ id }) => id);
}

function isSameRow(one: RowNeed, other: RowNeed): boolean {
  return one.entity === other.entity && one.id === other.id;
}

function nameOf({ entity, id }: RowNeed): string {
  return `${entity.name} ${id}`;
}
