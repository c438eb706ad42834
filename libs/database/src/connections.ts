import type { Socket } from 'node:net';
import { type ClientBase, type Pool, defaults, types } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

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
export const pooled = new WeakSet<ClientBase>();

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
