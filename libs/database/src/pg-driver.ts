import type { Socket } from 'node:net';
import { type ClientBase, type Pool, defaults, types } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

// When this file is imported, it sets two defaults of the driver for the whole process: the time zone of dates that are
// sent (here), and the parser of `bigint` (below). Dates are sent in UTC. The driver would send local time, which is
// wrong for dates of the 19th century, when time zones had offsets with seconds.
defaults.parseInputDatesAsUTC = true;

/**
 * Turns the text of a `bigint` into a number.
 * @throws RangeError above 2^53 - 1, where a number would silently lose precision
 */
function int8ToNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} cannot be carried exactly by a number.`);
  }
  return value;
}

types.setTypeParser(types.builtins.INT8, int8ToNumber);

export function poolOf({ driver }: DataSource): Pool {
  return (driver as PostgresDriver).master as Pool;
}

const pooled = new WeakSet<ClientBase>();

/**
 * Detects whether a new connection leads to a pooler such as PgBouncer. A pooler is recognized because it announces another
 * process id than the PostgreSQL session has.
 */
export async function detectPooler(connection: ClientBase): Promise<void> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { processID } = connection as unknown as { processID: number };
  if (rows[0]!.pid !== processID) {
    pooled.add(connection);
  }
}

export function isPooled(connection: ClientBase): boolean {
  return pooled.has(connection);
}

/**
 * Returns a function to call with each new connection of a pool. This function makes the connection close as soon as
 * the server has been silent for too long. Pending statements on the connection then fail with ETIMEDOUT.
 * @param silenceMs a time in milliseconds, longer than the server's `statement_timeout` and the pool's idle timeout
 */
export function giveUpSilentConnection(silenceMs: number): (connection: ClientBase) => void {
  return (connection) => {
    connection.on('error', () => undefined);
    const { stream } = (connection as unknown as { connection: { stream: Socket } }).connection;
    stream.setTimeout(silenceMs, () => {
      const { bytesRead } = stream;
      // If this process was busy or halted, a reply may have arrived but not been read yet. So let Node read first, and close
      // the connection only if there was nothing to read.
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) {
          const error = new Error(`The database has not answered for ${silenceMs} ms`);
          stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
        }
      });
    });
  };
}
