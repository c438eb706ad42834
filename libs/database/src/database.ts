import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions, type EntityManager, type EntityTarget } from 'typeorm';
import { EntityTable } from './entity-table';
import { codeOf } from './postgres-errors';
import { ConcurrencyLimiter, FairQueue, type Waiting } from './queue';
import {
  Session,
  type SharedRead,
  type Statement,
  StatementNames,
  type StoredRow,
  poolOf,
  withRetries,
} from './session';

/** A transaction. Pass it on, but never keep it. */
export type Transaction = EntityManager;

const IS_READ_ONLY: Statement = {
  text: `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  isUnprepared: true,
};

/**
 * A process halted in a transaction must not keep its locks: all writes need one of them. Set in each transaction, because
 * a pooler may give each another connection.
 */
export const IDLE_LIMIT = `SET LOCAL idle_in_transaction_session_timeout = '10s'`;

/** PostgreSQL's code of a refused write: the server is a standby, or was made one. */
const READ_ONLY = '25006';

export class ReadOnlyDatabaseError extends Error {
  readonly code = READ_ONLY;
}

/** The caller of the service's own reads. */
export const SERVICE = 0;

/** Maximum statements on a connection at a time, so that none waits long for those before it. */
const MAX_TOGETHER = 20;
/** Maximum connections for such statements. */
const AT_ONCE = 3;

/** Maximum waiting reads, in total and per caller. */
const QUEUE = { max: 10_000, maxOfOwner: 5_000, timeoutMs: 5_000 };

interface Entry {
  /** Those with the same share a statement. */
  id: unknown;
  read: SharedRead<unknown, unknown>;
  key: unknown;
  isSlow: boolean;
}

/** The requests that a statement is for, at least one, and their keys. */
interface Group {
  entries: (Entry & Waiting)[];
  keys: Set<unknown>;
}

/** By the id of their entries. */
type Groups = Map<unknown, Group>;

/**
 * Reads outside of transactions. Reads that wait are taken in turns between callers. Those that can share a statement do,
 * and the statements are sent together on one connection, because sending takes half the time of a short read. Each
 * statement succeeds or fails alone.
 */
export class Reads {
  private readonly queue = new FairQueue<Entry>('Read', QUEUE);
  private readonly limiter = new ConcurrencyLimiter(() => this.start(), AT_ONCE);
  /** The running statements, by those that were sent together. One that takes long does not block the next for the same. */
  private running: Groups[] = [];
  /** Callers with a slow statement: their next one waits, so that a few callers cannot take all connections. */
  private readonly slowCallers = new Set<number>();
  private lastBatch = 1;

  constructor(
    private readonly session: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
  ) {}

  /** @param caller whose turn it takes: the id of a client, or SERVICE */
  run<Key, Result>(read: SharedRead<Key, Result>, key: Key, caller: number): Promise<Result> {
    return this.add(caller, { id: read, read: read as SharedRead<unknown, unknown>, key, isSlow: false });
  }

  /**
   * Requests for the same statement with the same values share it, and its rows.
   * @param isSlow it may read thousands of rows: a caller has one of them at a time
   */
  one(statement: Statement, values: unknown[], caller: number, isSlow: boolean): Promise<StoredRow[]> {
    const read: SharedRead<unknown, unknown> = {
      maxBatch: Infinity,
      statementFor: () => [statement, values],
      resultsOf: (rows) => [rows],
    };
    const id = `${statement.text} ${JSON.stringify(values)}`;
    return this.add(caller, { id, read, key: null, isSlow: isSlow && caller !== SERVICE });
  }

  private add<Result>(caller: number, entry: Entry): Promise<Result> {
    const result = this.queue.add<Result>(caller, entry);
    if (this.limiter.isIdle && this.lastBatch === 1) {
      // Nobody to share with: the read before it was alone, too.
      this.start();
    } else {
      this.limiter.soon();
    }
    return result;
  }

  private start(): void {
    while (this.limiter.isFree) {
      const groups = this.nextGroups();
      const [first] = groups.values();
      if (first === undefined) {
        return;
      }
      this.running.push(groups);
      void this.limiter.run(first.entries[0]!.context, () => this.send(groups), {
        onSlow: () => this.release(groups),
      });
    }
  }

  private nextGroups(): Groups {
    const groups: Groups = new Map();
    const taken = this.queue.take((entry) => {
      const { id, read, key, isSlow, owner } = entry;
      const group = groups.get(id) ?? { entries: [], keys: new Set() };
      const isFirst = group.entries.length === 0;
      const isFull = isFirst
        ? groups.size === MAX_TOGETHER
        : group.keys.size === read.maxBatch && !group.keys.has(key);
      const isAnother = isFirst && isSlow && this.slowCallers.has(owner);
      if (isFull || isAnother || this.running.some((others) => others.has(id))) {
        return false;
      }
      if (isFirst && isSlow) {
        this.slowCallers.add(owner);
      }
      group.entries.push(entry);
      group.keys.add(key);
      groups.set(id, group);
      return true;
    });
    this.lastBatch = taken.length || this.lastBatch;
    return groups;
  }

  private async send(groups: Groups): Promise<void> {
    const all = [...groups.values()];
    try {
      await this.session((session) =>
        Promise.all(
          session.together(() =>
            all.map((group) =>
              group.entries[0]!.context.runInAsyncScope(() => this.load(session, group, groups)),
            ),
          ),
        ),
      );
    } catch (error) {
      // No connection was available, or it failed.
      all.flatMap(({ entries }) => entries).forEach(({ reject }) => reject(error));
      all.forEach((group) => this.end(group, groups));
    }
    this.release(groups);
  }

  private async load(session: Session, group: Group, groups: Groups): Promise<void> {
    const { entries } = group;
    try {
      const { read } = entries[0]!;
      const keys = [...group.keys];
      const [statement, values] = read.statementFor(keys);
      const rows = await withRetries(() => session.read(statement, values));
      const results = new Map(read.resultsOf(rows, keys).map((result, index) => [keys[index], result]));
      entries.forEach(({ key, resolve }) => resolve(results.get(key)));
    } catch (error) {
      entries.forEach(({ reject }) => reject(error));
    }
    this.end(group, groups);
    // The other statements of the connection may still run.
    this.limiter.soon();
  }

  /** Others may read the same. */
  private end(group: Group, groups: Groups): void {
    const { id, isSlow, owner } = group.entries[0]!;
    if (isSlow) {
      this.slowCallers.delete(owner);
    }
    groups.delete(id);
  }

  private release(groups: Groups): void {
    this.running = this.running.filter((others) => others !== groups);
  }
}

/** Access to the database: `find`, `read` and `share` for reads of requests, `session` for commands, `transaction` for administration. */
@Injectable()
export class Database {
  private readonly reads = new Reads((work) => this.session(work));
  private readonly names = new StatementNames();
  private readonly tables = new Map<EntityTarget<object>, EntityTable<object>>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Maximum number of connections; known before the database is opened. */
  get poolSize(): number {
    return this.dataSource.options.poolSize!;
  }

  /** Connections in use, idle connections, and requests that wait for one. */
  get poolUse() {
    const { totalCount, idleCount, waitingCount } = poolOf(this.dataSource);
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /**
   * Runs the work in one transaction (READ COMMITTED; the work locks the rows it decides on).
   * Joins `outer` if given and leaves the commit to it. Otherwise it retries (`withRetries`), so the work must have no
   * other effects.
   * @throws whatever the work throws, after the rollback
   */
  async transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    outer?: Transaction,
  ): Promise<Result> {
    const limited = async (transaction: Transaction): Promise<Result> => {
      await transaction.query(IDLE_LIMIT);
      return work(transaction);
    };
    return outer ? work(outer) : withRetries(() => this.dataSource.transaction(limited));
  }

  /**
   * Runs work on its own connection. The work must not leave a transaction open.
   * @throws whatever the work throws; the connection is closed if it cannot be used any more
   */
  async session<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const client = await poolOf(this.dataSource).connect();
    let lost: Error | undefined;
    // Statements in flight report the error too. Without a listener it would end the process.
    const onLost = (error: Error): void => void (lost = error);
    client.on('error', onLost);
    try {
      return await work(new Session(client, this.names));
    } catch (error) {
      if (codeOf(error) === READ_ONLY) {
        // It may have become a standby: a new connection may lead to the primary.
        lost ??= error as Error;
      }
      throw error;
    } finally {
      client.off('error', onLost);
      client.release(lost);
    }
  }

  /** Runs one statement on its own connection, outside of transactions. @throws what the driver throws */
  run<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return withRetries(() => this.session((session) => session.run<Row>(statement, values)));
  }

  /** @throws ReadOnlyDatabaseError if it answers, but refuses to write; what the driver throws */
  async assertWritable(): Promise<void> {
    await this.session(async (session) => {
      const [row] = await session.run<{ isReadOnly: boolean }>(IS_READ_ONLY);
      if (row!.isReadOnly) {
        throw new ReadOnlyDatabaseError('The database is read-only.');
      }
    });
  }

  table<Row extends object>(entity: EntityTarget<Row>): EntityTable<Row> {
    let table = this.tables.get(entity);
    if (table === undefined) {
      table = new EntityTable(this.dataSource, entity);
      this.tables.set(entity, table);
    }
    return table as unknown as EntityTable<Row>;
  }

  /**
   * Reads a row by its id, with a statement that all requests of a turn share.
   * @returns null if there is no such row
   * @throws what the driver throws
   */
  find<Row extends object>(
    entity: EntityTarget<Row>,
    id: number,
    caller: number = SERVICE,
  ): Promise<Row | null> {
    return this.reads.run(this.table(entity).byId, id, caller);
  }

  /**
   * Reads outside of transactions. Reads that wait for a connection are taken in turns between callers, so a client with
   * hundreds of them does not delay the others.
   * @param caller the id of the client that the read is for (`@ClientId()`); by default the service itself
   * @param isSlow it may read thousands of rows: a client has one of them at a time
   * @throws what the driver throws; an error like that of an unavailable database if it gets no connection within five seconds
   */
  read(
    statement: Statement,
    values: unknown[],
    caller: number = SERVICE,
    isSlow = true,
  ): Promise<StoredRow[]> {
    return this.reads.one(statement, values, caller, isSlow);
  }

  /**
   * Reads the result for a key, with a statement that all waiting requests of the same `SharedRead` share. In turns
   * between callers, as `read`.
   * @throws what the driver throws
   */
  share<Key, Result>(read: SharedRead<Key, Result>, key: Key, caller: number = SERVICE): Promise<Result> {
    return this.reads.run(read, key, caller);
  }
}

@Module({})
export class DatabaseModule {
  /**
   * @param connect opens the data source, once per application; its connections are closed with the application
   */
  static forRoot(
    options: DataSourceOptions,
    connect: (options: DataSourceOptions) => Promise<DataSource>,
  ): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          // An unreachable database ends the start immediately, with a clear message, instead of after ten silent attempts.
          useFactory: () => ({ ...options, retryAttempts: 0, autoLoadEntities: true }),
          // With the entities that the modules declare.
          dataSourceFactory: (declared) => connect({ ...options, entities: declared!.entities! }),
        }),
      ],
      providers: [Database],
      exports: [Database, TypeOrmModule],
    };
  }
}
