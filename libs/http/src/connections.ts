import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What has begun to arrive when the server is told to stop has this long to become a request. */
const GRACE_MS = 1_000;

/** The connections of a server, so that it can be ended without breaking off what has begun. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly answers = new Set<ServerResponse>();
  private ending = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.prependListener('request', (_request: IncomingMessage, answer: ServerResponse) => {
      this.answers.add(answer);
      answer.once('close', () => this.answers.delete(answer));
      if (this.ending) {
        answer.shouldKeepAlive = false;
      }
    });
  }

  /**
   * Has every answer from now on end its connection (`Connection: close`, RFC 9112, section 9.6), and closes after a
   * moment the connections that carry no request. Node by itself would wait for them until they time out.
   */
  end(): void {
    this.ending = true;
    this.answers.forEach((answer) => (answer.shouldKeepAlive = false));
    setTimeout(() => this.closeUnused(), GRACE_MS).unref();
  }

  private closeUnused(): void {
    const used = new Set([...this.answers].map(({ socket }) => socket));
    this.sockets.forEach((socket) => used.has(socket) || socket.destroy());
  }
}
