import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  Client,
  type ClientBase,
  type ClientConfig,
  Pool,
  type PoolClient,
  type PoolConfig,
  defaults,
} from 'pg';
import type { DataSource } from 'typeorm';
import {
  isAbortedTransaction,
  isLostStatement,
  isOutOfConnections,
  isOutdatedStatement,
  isRetryable,
} from './postgres-errors';

// By default the driver writes a Date in the machine's time zone, with an offset in whole minutes. Before standard time
// (1883 in New York, 1893 in Vienna) offsets had seconds, and such a date would be stored wrong.
defaults.parseInputDatesAsUTC = true;

interface PooledDriver {
  Pool: new (options?: PoolConfig) => Pool;
  /** Set when the data source is opened. */
  pool?: Pool;
}

type OnConnected = Parameters<Pool['connect']>[0];

/** How long a server without free connections is not asked for another one. */
const REFUSED_MS = 200;

/** While the server has no free connection, requests wait for those that the pool has, as long as they would otherwise. */
class PatientPool extends Pool {
  private readonly most = this.options.max;

  override connect(): Promise<PoolClient>;
  override connect(onConnected: OnConnected): void;
  override connect(onConnected?: OnConnected): Promise<PoolClient> | void {
    if (onConnected === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (error ? reject(error) : resolve(client!))),
      );
    }
    const startedAt = performance.now();
    const attempt = (): void =>
      super.connect((error, client, release) => {
        const { connectionTimeoutMillis = 0 } = this.options;
        if (!isOutOfConnections(error) || performance.now() > startedAt + connectionTimeoutMillis) {
          return onConnected(error, client, release);
        }
        // The pool queues in order once it is full.
        this.options.max = Math.max(1, this.totalCount);
        setTimeout(() => (this.options.max = this.most), REFUSED_MS).unref();
        setTimeout(attempt, this.totalCount > 0 ? 0 : REFUSED_MS);
      });
    attempt();
  }
}

/** A class of connections that use the password of the URL at the time: its file may have changed since the start. */
export function clientWithCurrentPassword(currentUrl: () => string): typeof Client {
  const current = () => new Client({ connectionString: currentUrl() }).password;
  return class extends Client {
    constructor(config?: ClientConfig) {
      super(config);
      if (typeof this.password === 'string') {
        Object.assign(this, { password: current });
      }
    }
  };
}

/** For TypeORM's option `driver`: the part of `pg` that a data source uses. Each needs its own, which knows its pool. */
export function pooledDriver(): PooledDriver {
  const driver: PooledDriver = {
    Pool: class extends PatientPool {
      constructor(options?: PoolConfig) {
        super(options);
        driver.pool = this;
      }
    },
  };
  return driver;
}

/** The pool of an open data source with a `pooledDriver`. */
export function poolOf({ options }: DataSource): Pool {
  return (options as { driver: PooledDriver }).driver.pool!;
}

/** A statement that bypasses the ORM, for the hot paths. Each connection parses and plans it once. */
export interface Statement {
  text: string;
  /** Planned for its values each time it runs, or not a single statement. */
  isUnprepared?: boolean;
}

/** The columns of a row, in the order in which they were selected, as the driver reports them. */
export type StoredRow = readonly unknown[];

/**
 * One connection of the pool. Statements that do not wait for each other's results share one round trip; PostgreSQL runs
 * them in the order in which they were sent.
 */
export class Session {
  /** The last error of a statement; in an aborted transaction, the one that aborted it. */
  private cause?: Error;

  constructor(
    private readonly client: PoolClient,
    private readonly names: StatementNames,
  ) {}

  /**
   * Sends a statement.
   * @param values in the order of `$1`, `$2`, …
   * @returns the rows as the driver reports them: a `bigint` is text
   * @throws what the driver throws; inside of a transaction, every later statement then fails with the same error
   */
  run<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return this.send<Row>(statement, { values });
  }

  /** As `run`; each row is an array of its columns, which costs the driver half as much. */
  read(statement: Statement, values: unknown[]): Promise<StoredRow[]> {
    return this.send<StoredRow>(statement, { values, rowMode: 'array' });
  }

  private async send<Row>(
    statement: Statement,
    options: { values: unknown[]; rowMode?: 'array' },
  ): Promise<Row[]> {
    const name = this.names.current(statement);
    try {
      const { rows } = await this.client.query({ name, text: statement.text, ...options });
      return rows as Row[];
    } catch (error) {
      if (isAbortedTransaction(error) && this.cause !== undefined) {
        throw this.cause;
      }
      this.cause = error as Error;
      this.names.learnFrom(error, statement, name);
      throw error;
    }
  }

  /** Sends all statements of the work in one system call. */
  together<Result>(work: () => Result): Result {
    const stream = streamOf(this.client);
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }
}

const MAX_ATTEMPTS = 4;

/**
 * Runs the work, and up to three more times after an error that rolled its transaction back and may not recur: a
 * deadlock, a serialization failure, or a prepared statement that was outdated by a migration, or lost by a pooler.
 */
export async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) {
        throw error;
      }
    }
  }
}

/** After statements were lost this many times, a pooler is assumed, behind which names are useless. */
const MAX_LOSSES = 2;

/**
 * The names of prepared statements on the connections of a pool. After a migration an outdated statement fails on
 * each connection that prepared it, so all statements get new names at once. Statements with old names are freed with
 * their connection.
 */
export class StatementNames {
  private generation = 0;
  private losses = 0;

  /** The name to use now; undefined if the statement must be sent without a name. */
  current({ text, isUnprepared }: Statement): string | undefined {
    if (isUnprepared || this.losses === MAX_LOSSES) {
      return undefined;
    }
    const name = digestOf(text);
    return this.generation === 0 ? name : `${name}.${this.generation}`;
  }

  /**
   * Reacts to the failure of a statement. Several may fail for the same reason; only the first failure counts.
   * @param sent the name that it was sent with
   */
  learnFrom(error: unknown, statement: Statement, sent: string | undefined): void {
    const isLost = isLostStatement(error);
    if (sent !== undefined && sent === this.current(statement) && (isLost || isOutdatedStatement(error))) {
      this.generation += 1;
      this.losses += Number(isLost);
    }
  }
}

const digests = new Map<string, string>();

/** A name that follows from the text. The texts of prepared statements are few. */
function digestOf(text: string): string {
  let digest = digests.get(text);
  if (digest === undefined) {
    digest = createHash('sha256').update(text).digest('base64url');
    digests.set(text, digest);
  }
  return digest;
}

function streamOf(client: ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

class SilentConnectionError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(silenceMs: number) {
    super(`The database has not answered for ${silenceMs} ms`);
  }
}

/**
 * For the pool's option `onConnect`: closes a connection after the server has been silent for this long. Pending
 * statements fail with ETIMEDOUT, and the connection leaves the pool. With the driver's own `query_timeout` it would
 * stay in the pool, and the next request would wait again: forever, if a partition or a firewall has silently dropped
 * the connection.
 *
 * @param silenceMs longer than the server's `statement_timeout` and the pool's idle timeout
 */
export function giveUpSilentConnection(silenceMs: number): (client: ClientBase) => void {
  return (client) => {
    const stream = streamOf(client);
    stream.setTimeout(silenceMs, () => {
      const { bytesRead } = stream;
      // A reply may have arrived while this process was busy or halted: read it before giving up the connection.
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) {
          stream.destroy(new SilentConnectionError(silenceMs));
        }
      });
    });
  };
}
