import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { ApiError, BadRequestError, HeadersTooLargeError, RequestTimeoutError } from './errors';
import { JSON_TYPE } from './representation';

/** From this many waiting requests on (pipelining, RFC 9112, section 9.3.2), no more are read from a connection. */
const MAX_WAITING = 16;
/** What was read already waits too: up to some thousand requests. So many of all connections together fit into memory. */
const MAX_WAITING_IN_TOTAL = 10_000;

/** How many connections may be open. Each can leave one response unread, for a minute. */
const MAX_CONNECTIONS = 15_000;

/** After the server stops listening, a request that has begun to arrive has this long to become complete. */
const GRACE_MS = 1_000;

/** How long a refused connection is still read: closing it with unread bytes could discard the response. */
const LINGER_MS = 1_000;

interface Connection {
  /** The response to its newest request, finished or not. */
  newest?: ServerResponse;
  /** Why the body of its newest request cannot be read. */
  brokenBy?: ApiError;
  waiting: number;
}

/** The connections of a server: the requests of each take turns, and the server stops without interrupting any. */
export class Connections {
  private readonly all = new Map<Socket, Connection>();
  private readonly owned = new Map<string | undefined, number>();
  private waiting = 0;
  private ending = false;

  /**
   * @param server must not listen yet: existing connections would not be tracked
   * @param ownerOf whose connections count together, at most half of all; undefined for a proxy, which may hold any number
   */
  constructor(
    private readonly server: Server,
    ownerOf: (address: string) => string | undefined,
    private readonly maxWaiting = MAX_WAITING_IN_TOTAL,
  ) {
    server.maxConnections = MAX_CONNECTIONS;
    // Who closes only the sending side still reads.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket: Socket) => {
      const owner = ownerOf(socket.remoteAddress ?? '');
      if (owner !== undefined && (this.owned.get(owner) ?? 0) >= server.maxConnections / 2) {
        socket.destroy();
        return;
      }
      const connection: Connection = { waiting: 0 };
      const end = new AbortController();
      this.all.set(socket, connection);
      this.count(owner, 1);
      ends.set(socket, end.signal);
      socket.once('end', () => end.abort());
      socket.once('close', () => {
        end.abort();
        this.all.delete(socket);
        this.count(owner, -1);
        this.waiting -= connection.waiting;
      });
    });
  }

  private count(owner: string | undefined, change: number): void {
    const count = (this.owned.get(owner) ?? 0) + change;
    if (count === 0) {
      this.owned.delete(owner);
    } else {
      this.owned.set(owner, count);
    }
  }

  get open(): number {
    return this.all.size;
  }

  /**
   * Starts a request once the response before it on its connection has left, or never, if the connection ends before. Otherwise a
   * client that reads nothing could make the service hold a response for each request.
   */
  takeTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const connection = this.all.get(socket);
    if (connection === undefined || socket.destroyed) {
      return;
    }
    const previous = connection.newest;
    connection.newest = response;
    const start = (): void => {
      // Otherwise its last request says so.
      if (this.ending && connection.newest === response) {
        response.shouldKeepAlive = false;
      }
      begin();
      if (connection.brokenBy !== undefined && connection.newest === response) {
        failBody(response.req, connection.brokenBy);
      }
    };
    if (previous === undefined || isSent(previous)) {
      start();
    } else {
      // Bound, or the request would run in the context of the one before it.
      previous.once(
        'close',
        AsyncResource.bind(() => this.leaveQueue(socket, connection, start)),
      );
      this.enterQueue(socket, connection);
    }
  }

  private enterQueue(socket: Socket, connection: Connection): void {
    connection.waiting += 1;
    this.waiting += 1;
    if (connection.waiting < MAX_WAITING) {
      return;
    }
    if (this.waiting > this.maxWaiting) {
      socket.destroy();
      return;
    }
    // Later, because Node reads on whenever a request is complete.
    process.nextTick(() => socket.pause());
  }

  private leaveQueue(socket: Socket, connection: Connection, start: () => void): void {
    if (!socket.writable) {
      return;
    }
    connection.waiting -= 1;
    this.waiting -= 1;
    if (connection.waiting < MAX_WAITING && socket.isPaused()) {
      socket.resume();
    }
    start();
  }

  /**
   * Answers what Node could not read as a request, after the request before it, and closes the connection. A request whose body
   * cannot be read any further gets the error of the body instead, and is answered like any other.
   */
  async refuse(
    socket: Socket,
    failure: ParserError | ApiError,
    headersOf: () => Promise<Record<string, string>>,
  ): Promise<void> {
    const connection: Connection = this.all.get(socket) ?? { waiting: 0 };
    const { newest, waiting } = connection;
    const isTimedOut = failure.code === TIMED_OUT;
    if (isTimedOut && waiting > 0) {
      // It waits for us. If it never becomes complete, the connection is closed when it makes no progress.
      return;
    }
    if (isTimedOut && !hasBegun(socket)) {
      // A client may open a connection in advance, and send empty lines. A later request would take a response for its own.
      socket.destroy();
      return;
    }
    // Nobody else handles them for a CONNECT, nor reads what else was sent.
    socket.on('error', () => undefined).resume();
    const error = failure instanceof ApiError ? failure : refusalFor(failure);
    if (newest !== undefined && !isSent(newest)) {
      if (!newest.req.complete) {
        connection.brokenBy = error;
        if (waiting === 0) {
          failBody(newest.req, error);
        }
        return;
      }
      await once(newest, 'close');
    }
    const headers = await headersOf();
    // It is not if a response has ended it, to a request whose body is still arriving.
    if (socket.writable) {
      endSoon(socket, messageOf(error, headers));
    }
  }

  /** From now on every response closes its connection, so that callers open their next one with another instance. */
  announceEnd(): void {
    this.ending = true;
    for (const { newest, waiting } of this.all.values()) {
      if (newest?.headersSent === false && waiting === 0) {
        newest.shouldKeepAlive = false;
      }
    }
  }

  /**
   * Stops listening and resolves when no connection is left. Unused connections are closed after a second, not immediately: a
   * request may already be on its way.
   * @param patienceMs how long requests in progress may take before they are interrupted
   */
  async end(patienceMs: number): Promise<void> {
    this.announceEnd();
    // The HTTP server's own close() would close unused connections immediately.
    NetServer.prototype.close.call(this.server);
    const closing = setInterval(() => this.closeUnused(), GRACE_MS);
    const patience = setTimeout(() => this.destroyAll(), patienceMs);
    await once(this.server, 'close');
    clearInterval(closing);
    clearTimeout(patience);
  }

  destroyAll(): void {
    this.server.closeAllConnections();
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

/** Later, because the reader of the body of a request that has just begun does not listen yet. A request without one has no reader. */
function failBody(request: IncomingMessage, error: ApiError): void {
  setImmediate(() => {
    if (!request.socket.destroyed && request.listenerCount('error') > 0) {
      request.emit('error', error);
    }
  });
}

/** Whether a message has begun to arrive: only then Node's parser minds that it ends here. */
function hasBegun(socket: Socket & { parser?: { finish(): Error | undefined } }): boolean {
  return socket.parser?.finish() !== undefined;
}

/**
 * Lets the response close the connection if the body of its request is still arriving. Some of the rest is read, because
 * closing with unread bytes could discard the response (RFC 9112, section 9.6).
 */
export function closeIfUnread({ raw: response }: FastifyReply): void {
  const { complete, socket } = response.req;
  if (!complete) {
    response.shouldKeepAlive = false;
    // Node calls it once the response is sent, and would close immediately.
    socket.destroySoon = () => endSoon(socket);
  }
}

function endSoon(socket: Socket, lastMessage = ''): void {
  socket.end(lastMessage);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const ends = new WeakMap<Socket, AbortSignal>();

/** Aborts when the other side sends nothing more: it has closed the connection, or its half of it. */
export function disconnectSignalOf(socket: Socket): AbortSignal {
  return ends.get(socket)!;
}

export type ParserError = Error & { code?: string };

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

function refusalFor({ code }: ParserError): ApiError {
  if (code === TIMED_OUT) {
    return new RequestTimeoutError();
  }
  const isTooLarge = code === 'HPE_HEADER_OVERFLOW';
  return isTooLarge ? new HeadersTooLargeError() : new BadRequestError('The request is not valid HTTP.');
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
