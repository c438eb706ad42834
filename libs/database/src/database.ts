import type { Socket } from 'node:net';
import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { type ClientBase, type Pool, type PoolClient, defaults, types } from 'pg';
import { DataSource, type DataSourceOptions, type EntityManager, type EntityTarget } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { EntityTable } from './engine/entity-table';
import { entryOf } from './engine/entry-of';
import { codeOf, withRetries } from './engine/postgres-errors';
import { Reads, SERVICE_CALLER } from './engine/reads';
import { Session, type SharedRead, type Statement, StatementNames, type StoredRow } from './engine/session';

// By default the driver writes a Date in the machine's time zone, with an offset in whole minutes. Before standard time
// (1883 in New York, 1893 in Vienna) offsets had seconds, and such a date would be stored wrong.
defaults.parseInputDatesAsUTC = true;

/**
 * Turns a `bigint` into a number, for all queries; by default the driver leaves it as text.
 * @throws RangeError above 2^53 - 1, where a JSON number would silently lose precision; the query fails with it
 */
function int8ToNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} cannot be carried exactly by a number.`);
  }
  return value;
}

types.setTypeParser(types.builtins.INT8, int8ToNumber);

/** The pool of an open data source. */
export function poolOf({ driver }: DataSource): Pool {
  return (driver as PostgresDriver).master as Pool;
}

/** Connections to a pooler, which may run each transaction in another session. */
const pooled = new WeakSet<ClientBase>();

/** For each new connection: finds out whether a pooler answers it. A pooler gives its clients process ids of its own. */
export async function detectPooler(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { processID } = client as unknown as { processID: number };
  if (rows[0]!.pid !== processID) {
    pooled.add(client);
  }
}

/**
 * For each new connection: keeps its loss from ending the process, because its statements report it, and closes it after the
 * server has been silent for this long. Pending statements fail with ETIMEDOUT. With the driver's own `query_timeout` it would
 * stay in the pool, and the next request would wait again: forever, if a firewall has silently dropped the connection.
 *
 * @param silenceMs longer than the server's `statement_timeout` and the pool's idle timeout
 */
export function giveUpSilentConnection(silenceMs: number): (client: ClientBase) => void {
  return (client) => {
    client.on('error', () => undefined);
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.setTimeout(silenceMs, () => {
      const { bytesRead } = stream;
      // A reply may have arrived while this process was busy or halted: read it before giving up the connection.
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) {
          const error = new Error(`The database has not answered for ${silenceMs} ms`);
          stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
        }
      });
    });
  };
}

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
    const session = entryOf(this.sessions, client, () => new Session(client, this.names, pooled.has(client)));
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
