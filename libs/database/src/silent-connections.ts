import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

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
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
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
