import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ClientBase, type Pool, type PoolClient, defaults, types } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { codeOf, isSerializationConflict, isUnusableStatement } from './postgres-errors';

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

/** A statement that bypasses the ORM, for the hot paths. Each connection parses and plans it once. */
export interface Statement {
  text: string;
  /** Planned each time it runs, or not a single statement. */
  isUnprepared?: boolean;
}

/** The columns of a row, in the order in which they were selected, as the driver reports them. */
export type StoredRow = readonly unknown[];

/**
 * A read that one statement does for many requests. Requests that pass the same object share statements: those that
 * arrive while a statement runs share the next one, so a result is never older than its request.
 */
export interface SharedRead<Key, Result> {
  /** Maximum keys of a statement. */
  readonly maxBatch: number;
  /** @param keys of the requests, each once */
  statementFor(keys: readonly Key[]): [Statement, values: unknown[]];
  /** @returns the result for each key, in the order of the keys */
  resultsOf(rows: readonly StoredRow[], keys: readonly Key[]): Result[];
}

/** PostgreSQL's code for a statement after the one that aborted its transaction. */
const IGNORED = '25P02';

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
   * @returns the rows as the driver reports them
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
    const name = this.names.of(statement);
    try {
      const { rows } = await this.client.query({ name, text: statement.text, ...options });
      return rows as Row[];
    } catch (error) {
      if (codeOf(error) === IGNORED && this.cause !== undefined) {
        throw this.cause;
      }
      this.cause = error as Error;
      if (isUnusableStatement(error)) {
        this.names.giveUp();
      }
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
 * deadlock, a serialization failure, or a prepared statement that cannot be used.
 */
export async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(isSerializationConflict(error) || isUnusableStatement(error))) {
        throw error;
      }
    }
  }
}

/**
 * The names of prepared statements on the connections of a pool. Behind a pooler that gives each transaction another
 * connection, statements are lost; after a migration by a newer version they are outdated. Then this process goes on
 * without names, and its statements are planned each time.
 */
export class StatementNames {
  private readonly digests = new Map<string, string>();
  private areUsable = true;

  /** Follows from the text; undefined if the statement must be sent without a name. The texts are few. */
  of({ text, isUnprepared }: Statement): string | undefined {
    if (isUnprepared || !this.areUsable) {
      return undefined;
    }
    let digest = this.digests.get(text);
    if (digest === undefined) {
      digest = createHash('sha256').update(text).digest('base64url');
      this.digests.set(text, digest);
    }
    return digest;
  }

  giveUp(): void {
    this.areUsable = false;
  }
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
