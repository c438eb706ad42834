import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { noteAnswers, openAnswers } from './pipelined-answers';

/** What has begun to arrive when the server stops listening has this long to become a request. */
const GRACE_MS = 1_000;

/** The connections of a server, so that it can be ended without breaking off what has begun. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private ending = false;

  /** @param server one that does not listen yet, or connections that it has already are not known */
  constructor(private readonly server: Server) {
    noteAnswers(server);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Number of connections that are open. */
  get open(): number {
    return this.sockets.size;
  }

  /** Number of requests that are not answered, or not to the end. */
  get requestsInProgress(): number {
    return [...this.sockets].reduce((sum, socket) => sum + openAnswers(socket).length, 0);
  }

  /**
   * Has every answer from now on end its connection (`Connection: close`, RFC 9112, section 9.6), so that whoever sends
   * more opens another one: with somebody else, where there is a choice. New connections are taken as before.
   */
  announceEnd(): void {
    if (this.ending) {
      return;
    }
    this.ending = true;
    this.sockets.forEach((socket) => endWithLast(openAnswers(socket)));
    this.server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
      endWithLast([...openAnswers(socket), answer]);
    });
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

  private closeUnused(): void {
    this.sockets.forEach(closeWhenUnused);
  }
}

/** Requests that were sent without waiting for answers (pipelined) are all answered, and the last one closes. */
function endWithLast(answers: ServerResponse[]): void {
  answers.forEach((answer, index) => (answer.shouldKeepAlive = index < answers.length - 1));
}

/** An answer may have said that its connection stays, because its header was written before the end was announced. */
function closeWhenUnused(socket: Socket): void {
  const [next] = openAnswers(socket);
  if (next === undefined) {
    socket.destroySoon();
  } else {
    next.once('close', () => closeWhenUnused(socket));
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
