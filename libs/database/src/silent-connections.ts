import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

class SilentConnectionError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(silenceMs: number) {
    super(`The database has not answered for ${silenceMs} ms`);
  }
}

/**
 * For the pool's option `onConnect`: gives a connection up when the server has said nothing on it for so long. What waits
 * for an answer there fails with ETIMEDOUT, and the connection does not come back into the pool. The driver's own
 * `query_timeout` leaves it there, for the next request to wait as long: forever, where a partition or a firewall has
 * forgotten the connection without a word.
 *
 * @param silenceMs longer than the server's `statement_timeout`, and than the pool keeps a connection that nobody uses
 */
export function giveUpSilentConnection(silenceMs: number): (client: ClientBase) => void {
  return (client) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.setTimeout(silenceMs, () => {
      const { bytesRead } = stream;
      // An answer may have come while this process was busy or halted: it is read before the connection is given up.
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) {
          stream.destroy(new SilentConnectionError(silenceMs));
        }
      });
    });
  };
}
