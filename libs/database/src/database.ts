import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { DataSource, type DataSourceOptions, type EntityManager, type EntityTarget } from 'typeorm';
import { EntityTable } from './engine/entity-table';
import { codeOf, withRetries } from './engine/postgres-errors';
import { Reads, SERVICE_CALLER } from './engine/reads';
import { Session, type SharedRead, type Statement, StatementNames, type StoredRow } from './engine/session';
import { entryOf } from './engine/state';
import { poolOf, pooled } from './connections';

/** A transaction. Pass it on, but never keep it. */
export type Transaction = EntityManager;

/** A process that is halted in a transaction must not keep its locks. Set in each, because a pooler may give each another connection. */
const SET_IDLE_TIMEOUT = `SET LOCAL idle_in_transaction_session_timeout = '10s'`;

const WITHOUT_NAMES =
  'A prepared statement was lost, as behind a pooler that does not know them: statements are planned each time now. The next attempt to prepare them is in ten minutes.';

/** PostgreSQL's code of a refused write: the server is a standby, or was made one. */
const READ_ONLY = '25006';

export class ReadOnlyDatabaseError extends Error {
  readonly code = READ_ONLY;
}

/** Access to the database: `find`, `read` and `readByKey` for requests, `session` for commands, `transaction` for administration. */
@Injectable()
export class Database {
  private readonly reads = new Reads((work) => this.session(work));
  private readonly logger = new Logger('Database');
  private readonly names = new StatementNames(() => this.logger.warn(WITHOUT_NAMES));
  private readonly sessions = new WeakMap<PoolClient, Session>();
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
      await transaction.query(SET_IDLE_TIMEOUT);
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
    const session = this.sessions.get(client) ?? new Session(client, this.names, pooled.has(client));
    this.sessions.set(client, session);
    try {
      const result = await work(session);
      client.release();
      return result;
    } catch (error) {
      // It may have become a standby: a new connection may lead to the primary. The pool itself drops those that were lost.
      client.release(codeOf(error) === READ_ONLY);
      throw error;
    }
  }

  /** Runs one statement on its own connection, outside of transactions. @throws what the driver throws */
  async query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    const [result] = await withRetries(() =>
      this.session((session) => session.execute([{ statement, values }])),
    );
    const { columns, rows } = result!;
    return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])) as Row);
  }

  /** @throws ReadOnlyDatabaseError if it answers, but refuses to write; what the driver throws */
  async assertWritable(): Promise<void> {
    await this.session(async (session) => {
      const text = `SELECT current_setting('transaction_read_only')`;
      const [result] = await session.execute([{ statement: { text, isUnprepared: true } }]);
      if (result!.rows[0]![0] === 'on') {
        throw new ReadOnlyDatabaseError('The database is read-only.');
      }
    });
  }

  table<Row extends object>(entity: EntityTarget<Row>): EntityTable<Row> {
    return entryOf(this.tables, entity, () => new EntityTable(this.dataSource, entity)) as EntityTable<Row>;
  }

  /** Reads a row by its id, as `readByKey`. @returns null if there is no such row */
  find<Row extends object>(entity: EntityTarget<Row>, id: number, caller?: number): Promise<Row | null> {
    return this.readByKey(this.table(entity).byId, id, caller);
  }

  /**
   * Reads outside of transactions. Reads that wait are taken in turns between callers, so a client with hundreds of them does
   * not delay the others.
   * @param caller the id of the client that the read is for (`@ClientId()`); by default the service itself
   * @param isSlow it may read thousands of rows: a client has one of them at a time
   * @throws what the driver throws; OverloadedError if nobody takes it within five seconds
   */
  read(
    statement: Statement,
    values: unknown[],
    caller = SERVICE_CALLER,
    isSlow = true,
  ): Promise<StoredRow[]> {
    return this.reads.read(statement, values, caller, isSlow);
  }

  /** Reads the result for a key, with a statement that all waiting requests of the same `SharedRead` share. In turns, as `read`. */
  readByKey<Key, Result>(read: SharedRead<Key, Result>, key: Key, caller = SERVICE_CALLER): Promise<Result> {
    return this.reads.readByKey(read, key, caller);
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
