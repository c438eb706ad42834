import { type Database, IDLE_LIMIT } from '../database';
import type { RowLock } from '../entity-table';
import type { Waiting } from '../queue';
import type { Session, Statement } from '../session';
import {
  type IdempotentUse,
  type KeptResponse,
  type KnownUses,
  claim,
  keep,
  replay,
} from './idempotency-records';
import type { Aggregate, Change, Command, Entity, Origin, State, Write } from './state';

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

/** What the commands of a batch need, grouped by the statement that loads it. */
interface Needs {
  rows: Map<Entity, Map<RowLock | undefined, Set<number>>>;
  aggregates: Map<Aggregate, Set<number>>;
  newIds: Map<Entity, number>;
}

/** Rows that could not be locked: they are locked elsewhere or do not exist. */
type MissingRows = [entity: Entity, ids: number[]];

/** The timeout matters for rows that were read without a lock and are locked elsewhere when they are written. */
const BEGIN: Statement = {
  text: `BEGIN; ${IDLE_LIMIT}; SET LOCAL lock_timeout = '5s'`,
  isUnprepared: true,
};
const COMMIT: Statement = { text: 'COMMIT', isUnprepared: true };
const ROLLBACK: Statement = { text: 'ROLLBACK', isUnprepared: true };

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
  private readonly kept: { use: IdempotentUse; response: KeptResponse }[] = [];
  private readonly settlements: (() => void)[] = [];

  /** @param locked wait for rows that another transaction has locked, or skip their commands */
  constructor(
    private readonly session: Session,
    private readonly database: Database,
    private readonly entities: readonly Entity[],
    private readonly entries: readonly QueuedCommand[],
    private readonly locked: 'wait' | 'skip',
    private readonly state: State,
  ) {}

  /**
   * Runs the transaction and settles its commands.
   * @returns the commands that were skipped, each with its `heldRow`
   * @throws database errors; no command is settled then
   */
  async run(): Promise<QueuedCommand[]> {
    try {
      const skipped = await this.loadAndDecide();
      await this.write();
      this.settlements.forEach((settle) => settle());
      return skipped;
    } catch (error) {
      // After this reply no statement is in progress any more.
      await this.session.run(ROLLBACK).catch(() => undefined);
      throw error;
    }
  }

  private async loadAndDecide(): Promise<QueuedCommand[]> {
    const uses = this.entries.flatMap(({ origin }) => origin.use ?? []);
    const needs = needsOf(this.entries);
    const [, known, missing] = await Promise.all(
      // Rows are locked before the aggregates that depend on them are read.
      this.session.together(
        () =>
          [
            this.session.run(BEGIN),
            uses.length > 0 ? claim(this.session, uses) : Promise.resolve(undefined),
            this.loadRows(needs.rows),
            this.loadAggregates(needs.aggregates),
            this.loadNewIds(needs.newIds),
          ] as const,
      ),
    );
    const held = this.locked === 'skip' ? await this.heldByOthers(missing) : new Set<string>();
    for (const entry of this.entries) {
      const isReplay = entry.origin.use !== undefined && known!.kept.has(entry.origin.use);
      entry.heldRow = isReplay ? undefined : entry.lockedRows.find((row) => held.has(row));
      if (entry.heldRow === undefined) {
        this.decide(entry, known);
      }
    }
    return this.entries.filter(({ heldRow }) => heldRow !== undefined);
  }

  private loadRows(needs: Needs['rows']): Promise<MissingRows[]> {
    const loads = this.entities.flatMap((entity) =>
      [...(needs.get(entity) ?? [])].map(([lock, ids]) => this.loadTable(entity, ids, lock)),
    );
    return Promise.all(loads);
  }

  private async loadTable(entity: Entity, ids: ReadonlySet<number>, lock?: RowLock): Promise<MissingRows> {
    const { rows } = this.state.batch;
    const table = this.database.table(entity);
    const found = new Set<number>();
    for (const stored of await this.session.read(table.load(lock, this.locked), [[...ids]])) {
      const row = table.rowOf(stored);
      found.add(table.idOf(row));
      rows.set(entity, table.idOf(row), row);
    }
    const absent = [...ids].filter((id) => !found.has(id));
    for (const id of absent.filter((one) => rows.get(entity, one) === undefined)) {
      rows.set(entity, id, null);
    }
    return [entity, lock === undefined ? [] : absent];
  }

  private async loadAggregates(needs: Needs['aggregates']): Promise<void> {
    await Promise.all(
      [...needs].map(async ([aggregate, ids]) => {
        const rows = await this.session.run<{ id: number; value: number }>(aggregate, [[...ids]]);
        ids.forEach((id) => this.state.batch.aggregates.set(aggregate, id, 0));
        rows.forEach(({ id, value }) => this.state.batch.aggregates.set(aggregate, id, value));
      }),
    );
  }

  private async loadNewIds(needs: Needs['newIds']): Promise<void> {
    await Promise.all(
      [...needs].map(async ([entity, count]) => {
        const rows = await this.session.run<{ id: number }>(this.database.table(entity).newIds, [count]);
        // `newId` pops, so the smallest id is used first.
        this.state.batch.newIds.set(entity, rows.map(({ id }) => id).reverse());
      }),
    );
  }

  /** Which of these rows exist, and are therefore locked by another transaction. */
  private async heldByOthers(missing: readonly MissingRows[]): Promise<Set<string>> {
    const held = new Set<string>();
    for (const [entity, ids] of missing.filter(([, absent]) => absent.length > 0)) {
      const table = this.database.table(entity);
      const rows = await this.session.read(table.load(), [ids]);
      rows.forEach((row) => held.add(nameOf(entity, table.idOf(table.rowOf(row)))));
    }
    return held;
  }

  private decide({ command, origin, resolve, reject }: QueuedCommand, known: KnownUses | undefined): void {
    const { use } = origin;
    try {
      const result = (use && replay(use, known!)) ?? this.state.decide(command);
      if (use && !use.replayed) {
        this.kept.push({ use, response: { status: use.status, body: result as object } });
      }
      this.settlements.push(() => resolve(result));
    } catch (error) {
      const isFirstUse = use !== undefined && known!.claimed.has(use) && !known!.kept.has(use);
      const response = isFirstUse ? use.responseTo(error) : undefined;
      if (response !== undefined) {
        this.kept.push({ use: use!, response });
      }
      this.settlements.push(() => reject(error));
    }
  }

  private async write(): Promise<void> {
    // Builds all statements before sending the first, because a build error must prevent the commit.
    const changes = (['inserted', 'updated', 'deleted'] as const).flatMap((change) =>
      this.entities.flatMap((entity) => this.writeOf(entity, change)),
    );
    // Last, because a journal may serialize its writes: only the commit follows while it is locked.
    const writes = [...changes, ...this.appends()];
    const nothing = writes.length === 0 && this.kept.length === 0;
    await Promise.all(
      this.session.together(() => [
        ...(this.kept.length > 0 ? [keep(this.session, this.kept)] : []),
        ...writes.map(({ statement, values }) => this.session.run(statement, values)),
        // With nothing to write, a rollback saves the wait for the disk. COMMIT after a failed write rolls back.
        this.session.run(nothing ? ROLLBACK : COMMIT),
      ]),
    );
  }

  private appends(): Write[] {
    const { appended } = this.state.batch;
    return [...new Set(appended.map(({ journal }) => journal))].flatMap((journal) =>
      journal.write(appended.flatMap((added) => (added.journal === journal ? [added.entry] : []))),
    );
  }

  private writeOf(entity: Entity, change: Change): Write[] {
    const changes = this.state.batch.changes.of(entity);
    const ids = [...changes.keys()].filter((id) => changes.get(id) === change);
    if (ids.length === 0) {
      return [];
    }
    const table = this.database.table(entity);
    if (change === 'deleted') {
      return [{ statement: table.delete, values: [ids] }];
    }
    const rows = ids.map((id) => this.state.batch.rows.get(entity, id)!);
    const statement = change === 'inserted' ? table.insert : table.update;
    return [{ statement, values: table.columnsOf(rows) }];
  }
}

function needsOf(entries: readonly Entry[]): Needs {
  const needs: Needs = { rows: new Map(), aggregates: new Map(), newIds: new Map() };
  for (const need of entries.flatMap(({ command }) => command.needs)) {
    if ('row' in need) {
      const locks = entryOf(needs.rows, need.row, () => new Map<RowLock | undefined, Set<number>>());
      entryOf(locks, need.lock, () => new Set<number>()).add(need.id);
    } else if ('aggregate' in need) {
      entryOf(needs.aggregates, need.aggregate, () => new Set<number>()).add(need.id);
    } else {
      needs.newIds.set(need.newId, (needs.newIds.get(need.newId) ?? 0) + 1);
    }
  }
  return needs;
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

function nameOf(entity: Entity, id: number): string {
  return `${entity.name} ${id}`;
}
