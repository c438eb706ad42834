import { AsyncResource } from 'node:async_hooks';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { type ApiError, BadRequestError, HeadersTooLargeError, RequestTimeoutError } from './errors';
import { JSON_TYPE } from './representation';

/** How many requests may wait on one connection for their responses (pipelining, RFC 9112, section 9.3.2). */
const MAX_WAITING = 16;

/** How many connections may be open. Each can leave one response unread, for a minute. */
const MAX_CONNECTIONS = 15_000;

/** After the server stops listening, a request that has begun to arrive has this long to become complete. */
const GRACE_MS = 1_000;

/** How long a refused connection is still read: closing it with unread bytes could discard the response. */
const LINGER_MS = 1_000;

interface Connection {
  /** The response to its newest request, finished or not. */
  newest?: ServerResponse;
  waiting: number;
}

/** The connections of a server: the requests of each take turns, and the server stops without interrupting any. */
export class Connections {
  private readonly all = new Map<Socket, Connection>();
  private ending = false;

  /** @param server must not listen yet: existing connections would not be tracked */
  constructor(private readonly server: Server) {
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => {
      this.all.set(socket, { waiting: 0 });
      socket.once('close', () => this.all.delete(socket));
    });
  }

  get open(): number {
    return this.all.size;
  }

  /**
   * Starts a request once the response before it on its connection has been handed to the operating system. Otherwise a
   * client that reads nothing could make the service hold a response for each request. If the connection ends before, the
   * request never starts.
   */
  takeTurn({ socket }: IncomingMessage, response: ServerResponse, start: () => void): void {
    const connection = this.all.get(socket);
    if (connection === undefined || socket.destroyed) {
      return;
    }
    const previous = connection.newest;
    connection.newest = response;
    if (this.ending) {
      response.setHeader('Connection', 'close');
    }
    if (previous === undefined || isSent(previous)) {
      start();
      return;
    }
    connection.waiting += 1;
    if (connection.waiting > MAX_WAITING) {
      socket.destroy();
      return;
    }
    // Bound, or the request would run in the context of the one before it.
    const startInTurn = AsyncResource.bind(start);
    previous.once('close', () => {
      connection.waiting -= 1;
      if (socket.writable) {
        startInTurn();
      }
    });
  }

  /**
   * Answers what Node could not read as a request, and closes the connection. A request before it is answered first.
   * @param headers header fields of the answer, beside those of every HTTP message
   */
  async refuse(
    socket: Socket,
    failure: ParserError,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const newest = this.all.get(socket)?.newest;
    if (newest?.headersSent && !newest.req.complete) {
      // It was answered before its body had arrived.
      socket.destroy();
    } else if (newest?.req.complete && !isSent(newest)) {
      await closed(newest);
    }
    if (socket.writable) {
      socket.end(messageOf(refusalFor(failure), headers));
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    }
  }

  /**
   * From now on every response closes its connection (`Connection: close`, RFC 9112, section 9.6), so that callers open
   * their next one with another instance, if there is one. New connections are still accepted.
   */
  announceEnd(): void {
    this.ending = true;
    for (const { newest } of this.all.values()) {
      if (newest?.headersSent === false) {
        newest.setHeader('Connection', 'close');
      }
    }
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
    const closing = setInterval(() => this.closeUnused(), GRACE_MS);
    const patience = setTimeout(() => this.destroyAll(), patienceMs);
    await Promise.all([...this.all.keys()].map(closed));
    clearInterval(closing);
    clearTimeout(patience);
  }

  /** Closes every connection immediately, even during a request. */
  destroyAll(): void {
    this.all.forEach((_connection, socket) => socket.destroy());
  }

  private closeUnused(): void {
    for (const [socket, { newest }] of this.all) {
      if (newest === undefined || isSent(newest)) {
        socket.destroySoon();
      }
    }
  }
}

function isSent(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

function closed(stream: Socket | ServerResponse): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}

export type ParserError = Error & { code?: string };

function refusalFor({ code }: ParserError): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HeadersTooLargeError();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestTimeoutError();
    default:
      return new BadRequestError('The request is not valid HTTP.');
  }
}

function messageOf(error: ApiError, headers: Readonly<Record<string, string>>): string {
  const body = JSON.stringify(error.toBody());
  const fields = {
    Date: new Date().toUTCString(),
    Connection: 'close',
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
