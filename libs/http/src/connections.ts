import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** What has begun to arrive when the server stops listening has this long to become a request. */
const GRACE_MS = 1_000;

/** The connections of a server, so that it can be ended without breaking off what has begun. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly answers = new Set<ServerResponse>();
  private ending = false;
  private closing = false;

  /** @param server one that does not listen yet, or connections that it has already are not known */
  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.lost(socket));
    });
    server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
      answer.once('close', () => this.answered(answer));
      if (this.ending) {
        this.makeLast(answer, request.socket);
      }
      this.answers.add(answer);
    });
  }

  /** Number of connections that are open. */
  get open(): number {
    return this.sockets.size;
  }

  /** Number of requests that are not answered, or not to the end. */
  get requestsInProgress(): number {
    return this.answers.size;
  }

  /**
   * Has every answer from now on end its connection (`Connection: close`, RFC 9112, section 9.6), so that whoever sends
   * more opens another one: with somebody else, where there is a choice. New connections are taken as before.
   */
  announceEnd(): void {
    this.ending = true;
    // Of requests that were sent without waiting for answers, the last one is what stays in the map.
    const last = new Map([...this.answers].map((answer) => [answer.req.socket, answer]));
    last.forEach((answer) => (answer.shouldKeepAlive = false));
  }

  /**
   * Stops listening and resolves when no connection is left. Those that carry no request are closed after a second and
   * not at once: a request may be on its way on any of them, and closing would lose it.
   * @param patienceMs how long requests under way may take; those that take longer are broken off
   */
  async end(patienceMs: number): Promise<void> {
    this.announceEnd();
    // The HTTP server's own close() would close the unused connections now.
    NetServer.prototype.close.call(this.server);
    const timers = [
      setTimeout(() => this.closeUnused(), GRACE_MS),
      setTimeout(() => this.breakOff(), patienceMs),
    ];
    await Promise.all([...this.sockets].map(closed));
    timers.forEach(clearTimeout);
  }

  /** Closes every connection now, whatever it carries. */
  breakOff(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  private makeLast(answer: ServerResponse, socket: Socket): void {
    for (const earlier of this.answers) {
      if (earlier.req.socket === socket) {
        // Requests that were sent without waiting for answers (pipelined) are all answered, and the last one closes.
        earlier.shouldKeepAlive = true;
      }
    }
    answer.shouldKeepAlive = false;
  }

  private answered(answer: ServerResponse): void {
    this.answers.delete(answer);
    if (this.closing) {
      // Its header was written before the end was announced, so that it said nothing of it.
      this.closeUnused();
    }
  }

  /** Node closes the answer that it was sending on a lost connection, and never those that waited for their turn. */
  private lost(socket: Socket): void {
    this.sockets.delete(socket);
    for (const answer of this.answers) {
      if (answer.req.socket === socket) {
        this.answers.delete(answer);
      }
    }
  }

  private closeUnused(): void {
    this.closing = true;
    const used = new Set([...this.answers].map(({ req }) => req.socket));
    this.sockets.forEach((socket) => used.has(socket) || socket.destroySoon());
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
