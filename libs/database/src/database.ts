import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { DataSource, type DataSourceOptions, type EntityManager, type EntityTarget } from 'typeorm';
import { EntityTable } from './engine/entity-table';
import { getOrInsert } from './engine/get-or-insert';
import { codeOf, withRetries } from './engine/postgres-errors';
import type { CallerId } from './engine/queue';
import { Reads } from './engine/reads';
import { Session, type Statement, StatementNames, type StatementResult } from './engine/session';
import { COMMIT, SET_TIMEOUTS, beginning, rollingBack } from './engine/transaction';
import { WITHOUT_TIMEOUTS } from './migrations';
import { isPooled, poolOf } from './pg-driver';

/** A running transaction. Functions may pass the transaction on, but must keep no reference after its end. */
export type Transaction = EntityManager;

const WITHOUT_NAMES =
  'A prepared statement is missing on a database connection, probably because of a pooler that does not keep prepared statements. For ten minutes the service prepares no statements, so PostgreSQL plans each statement anew.';

/** PostgreSQL's error code for a write in a read-only transaction, for example on a standby. */
const READ_ONLY = '25006';

export class ReadOnlyDatabaseError extends Error {
  readonly code = READ_ONLY;
}

@Injectable()
export class Database {
  readonly reads = new Reads((work) => this.withSession(work));
  private readonly logger = new Logger('Database');
  private readonly names = new StatementNames(() => this.logger.warn(WITHOUT_NAMES));
  private readonly sessions = new WeakMap<PoolClient, Session>();
  private readonly tables = new Map<EntityTarget<object>, EntityTable<object>>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  get poolSize(): number {
    return this.dataSource.options.poolSize!;
  }

  get poolUse() {
    const { totalCount, idleCount, waitingCount } = poolOf(this.dataSource);
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /**
   * Runs `work` in one READ COMMITTED transaction. After a deadlock, `work` runs again, so `work` must have no effects
   * outside of the transaction.
   * @throws the error of `work`, after the rollback
   */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const limited = async (transaction: Transaction): Promise<Result> => {
      await transaction.query(SET_TIMEOUTS.text);
      return work(transaction);
    };
    return withRetries(() => this.dataSource.transaction(limited));
  }

  /**
   * Runs `work` once, while nobody else runs work under the same lock. The lock belongs to a transaction in which
   * `work` does nothing, because a lock without a transaction may be lost behind a pooler.
   * @param lock the key of an advisory lock, which no other program uses on this database
   */
  underLock<Result>(lock: number, work: () => Promise<Result>): Promise<Result> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query(WITHOUT_TIMEOUTS);
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [lock]);
      return work();
    });
  }

  /**
   * Runs `work` on a connection of its own. `work` must not leave a transaction open.
   * @throws the error of `work`
   */
  async withSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const connection = await poolOf(this.dataSource).connect();
    const session = getOrInsert(
      this.sessions,
      connection,
      () => new Session(connection, this.names, isPooled(connection)),
    );
    try {
      const result = await work(session);
      connection.release();
      return result;
    } catch (error) {
      // Close the connection if the database was read-only. The server of this connection may have become a standby, and
      // a new connection may lead to the new primary.
      connection.release(codeOf(error) === READ_ONLY);
      throw error;
    }
  }

  async query<Row extends object>(statement: Statement): Promise<Row[]> {
    const [result] = await withRetries(() => this.withSession((session) => session.execute([statement])));
    return rowsOf(result!);
  }

  /**
   * Runs statements in one READ COMMITTED transaction of two round trips. After a deadlock, the transaction runs again.
   * @param next returns the statements of the second round trip. Receives the rows of each statement in `first`. Called
   * again if the transaction runs again.
   * @returns the rows of each statement of the second round trip
   */
  inTwoRoundTrips(
    first: readonly Statement[],
    next: (rows: object[][]) => readonly Statement[],
  ): Promise<object[][]> {
    return rollingBack(this, async (session) => {
      const begin = beginning(session);
      const results = await session.execute([...begin, ...first]);
      const second = next(results.slice(begin.length).map(rowsOf));
      return (await session.execute([...second, COMMIT])).slice(0, -1).map(rowsOf);
    });
  }

  /**
   * @throws ReadOnlyDatabaseError if the database is read-only; the driver's error if the database cannot be reached
   */
  async assertWritable(): Promise<void> {
    await this.withSession(async (session) => {
      const text = `SELECT current_setting('transaction_read_only')`;
      const [result] = await session.execute([{ text, isUnprepared: true }]);
      if (result!.rows[0]![0] === 'on') {
        throw new ReadOnlyDatabaseError('The database is read-only.');
      }
    });
  }

  table<Row extends object>(entity: EntityTarget<Row>): EntityTable<Row> {
    return getOrInsert(
      this.tables,
      entity,
      () => new EntityTable(this.dataSource, entity),
    ) as EntityTable<Row>;
  }

  find<Row extends object>(entity: EntityTarget<Row>, id: number, callerId: CallerId): Promise<Row | null> {
    return this.reads.readByKey(this.table(entity).byId, id, callerId);
  }
}

function rowsOf<Row extends object>({ columns, rows }: StatementResult): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])) as Row);
}

@Module({})
export class DatabaseModule {
  /**
   * @param connect opens the data source; called once per application. The connections are closed when the application
   * closes.
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
          // Do not retry: if the database cannot be reached, the start fails at once instead of after ten silent
          // attempts.
          useFactory: () => ({ ...options, retryAttempts: 0, autoLoadEntities: true }),
          dataSourceFactory: (declared) => connect({ ...options, entities: declared!.entities! }),
        }),
      ],
      providers: [Database],
      exports: [Database, TypeOrmModule],
    };
  }
}
