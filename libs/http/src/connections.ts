import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { openResponses, trackResponses } from './pipelining';

/** After the server stops listening, a request that has begun to arrive has this long to become complete. */
const GRACE_MS = 1_000;

/** The connections of a server, so that it can stop without interrupting requests. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private ending = false;

  /** @param server must not listen yet: existing connections would not be tracked */
  constructor(private readonly server: Server) {
    trackResponses(server);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Number of connections that are open. */
  get open(): number {
    return this.sockets.size;
  }

  /** Number of requests in progress. */
  get requestsInProgress(): number {
    return [...this.sockets].reduce((sum, socket) => sum + openResponses(socket).length, 0);
  }

  /**
   * From now on every response closes its connection (`Connection: close`, RFC 9112, section 9.6), so that callers open
   * their next one with another instance, if there is one. New connections are still accepted.
   */
  announceEnd(): void {
    if (this.ending) {
      return;
    }
    this.ending = true;
    this.sockets.forEach((socket) => endWithLast(openResponses(socket)));
    this.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      endWithLast([...openResponses(socket), response]);
    });
  }

  /**
   * Stops listening and resolves when no connection is left. Connections without a request are closed after a second, not
   * immediately: a request may already be on its way, and closing would lose it.
   * @param patienceMs how long requests in progress may take before they are interrupted
   */
  async end(patienceMs: number): Promise<void> {
    this.announceEnd();
    // The HTTP server's own close() would close unused connections immediately.
    NetServer.prototype.close.call(this.server);
    const timers = [
      setTimeout(() => this.closeUnused(), GRACE_MS),
      setTimeout(() => this.breakOff(), patienceMs),
    ];
    await Promise.all([...this.sockets].map(closed));
    timers.forEach(clearTimeout);
  }

  /** Closes every connection immediately, even during a request. */
  breakOff(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  private closeUnused(): void {
    this.sockets.forEach(closeWhenUnused);
  }
}

/** All pipelined requests are answered; the last response closes the connection. */
function endWithLast(responses: ServerResponse[]): void {
  responses.forEach((response, index) => (response.shouldKeepAlive = index < responses.length - 1));
}

/** A response whose header was written before the end was announced has kept its connection open. */
function closeWhenUnused(socket: Socket): void {
  const [next] = openResponses(socket);
  if (next === undefined) {
    socket.destroySoon();
  } else {
    next.once('close', () => closeWhenUnused(socket));
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
