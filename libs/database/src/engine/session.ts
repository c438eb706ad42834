import type { Socket } from 'node:net';
import { type ClientBase, type Pool, type PoolClient, type Submittable, defaults, types } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { type Call, type CallResult, type StatementNames, Step, type StoredRow } from './pipeline';
import { isSerializationConflict, isUnusableStatement } from './postgres-errors';

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

/**
 * A read that one statement does for many requests. Requests that pass the same object share statements: those that
 * arrive while a statement runs share the next one, so a result is never older than its request.
 */
export interface SharedRead<Key, Result> {
  /** Maximum keys of a statement. */
  readonly maxBatch: number;
  /** @param keys of the requests, each once */
  callFor(keys: readonly Key[]): Call;
  /** @returns the result for each key, in the order of the keys */
  resultsOf(rows: readonly StoredRow[], keys: readonly Key[]): Result[];
}

/** Connections to a pooler. */
const pooled = new WeakSet<ClientBase>();

/**
 * For each new connection: finds out whether a pooler answers it, which may run each transaction in another session. A pooler gives
 * its clients process ids of its own.
 */
export async function detectPooler(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { processID } = client as unknown as { processID: number };
  if (rows[0]!.pid !== processID) {
    pooled.add(client);
  }
}

/** One connection of the pool. */
export class Session {
  constructor(
    private readonly client: PoolClient,
    private readonly names: StatementNames,
  ) {}

  /** True if the next transaction may not have what was set for the connection. */
  get isPooled(): boolean {
    return pooled.has(this.client);
  }

  /**
   * Runs calls one after the other, in one round trip. Others may be sent before this one is answered.
   * @returns the result of each
   * @throws what the driver throws for the first that fails; those after it are not run
   */
  execute(calls: readonly Call[]): Promise<CallResult[]> {
    return new Promise((resolve, reject) => {
      const step = new Step(calls, this.names, (error, results) => {
        if (error === null) {
          resolve(results);
        } else {
          reject(error);
        }
      });
      this.client.query(step as unknown as Submittable);
    });
  }

  /** Sends all that the work executes in one system call; not worth it for a single step. */
  corked<Result>(work: () => Result): Result {
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
 * For the pool's option `onConnect`: keeps the loss of a connection from ending the process, because its statements report it, and
 * closes a connection after the server has been silent for this long. Pending
 * statements fail with ETIMEDOUT, and the connection leaves the pool. With the driver's own `query_timeout` it would
 * stay in the pool, and the next request would wait again: forever, if a partition or a firewall has silently dropped
 * the connection.
 *
 * @param silenceMs longer than the server's `statement_timeout` and the pool's idle timeout
 */
export function giveUpSilentConnection(silenceMs: number): (client: ClientBase) => void {
  return (client) => {
    client.on('error', () => undefined);
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
