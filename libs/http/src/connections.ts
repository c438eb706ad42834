import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { type AccountedRequest, Connection, type Owner, isSent } from './connection';
import { ApiError, BadRequestError, HeadersTooLargeError, RequestTimeoutError } from './errors';
import { JSON_TYPE } from './representation';

/** From this many waiting requests on (pipelining, RFC 9112, section 9.3.2), no more are read from a connection. */
const MAX_WAITING = 16;
/** How much memory unanswered requests may take, in bytes, by estimate. Those of one owner may take half of it. */
const MAX_HELD_BYTES = 96 * 1024 * 1024;
/** The part of the maximum that is freed once the maximum is exceeded, so that the next request does not exceed it again. */
const FREED_PART = 1 / 32;

/** How many connections may be open. Each can leave one response unread, for a minute. */
const MAX_CONNECTIONS = 15_000;

/** After the server stops listening, a request that has begun to arrive has this long to become complete. */
const GRACE_MS = 1_000;

/** How long a refused connection is still read: closing it with unread bytes could discard the response. */
const LINGER_MS = 1_000;

/** The connections of a server: the requests of each take turns, and the server stops without interrupting any. */
export class Connections {
  private readonly all = new Map<Socket, Connection>();
  private readonly owners = new Map<string, Owner>();
  private readonly total = { held: 0 };
  /** Estimated memory, in bytes, that all requests may take until they are answered. */
  maxHeld = MAX_HELD_BYTES;
  private ending = false;

  /**
   * @param server must not listen yet: existing connections would not be tracked. Its requests are `AccountedRequest`
   * @param ownerOf whose connections count together, at most half of all; undefined for a proxy, which may hold any number
   */
  constructor(
    private readonly server: Server<typeof AccountedRequest>,
    ownerOf: (address: string) => string | undefined,
  ) {
    server.maxConnections = MAX_CONNECTIONS;
    // A client that closes only its sending side still reads the response.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket: Socket) => {
      const name = ownerOf(socket.remoteAddress ?? '');
      const owner = name === undefined ? undefined : (this.owners.get(name) ?? { connections: 0, held: 0 });
      if (owner !== undefined && owner.connections >= server.maxConnections / 2) {
        socket.destroy();
        return;
      }
      this.all.set(socket, new Connection(socket, owner, (...changed) => this.account(...changed)));
      if (owner !== undefined) {
        owner.connections += 1;
        this.owners.set(name!, owner);
      }
      socket.once('close', () => {
        this.all.delete(socket);
        if (owner !== undefined && (owner.connections -= 1) === 0) {
          this.owners.delete(name!);
        }
      });
    });
  }

  /** @param bytes the change of what the connection holds */
  private account(changed: Connection, bytes: number): void {
    const { owner } = changed;
    this.total.held += bytes;
    if (owner !== undefined) {
      owner.held += bytes;
    }
    if (bytes > 0 && owner !== undefined && owner.held > this.maxHeld / 2) {
      this.keepWithin(this.maxHeld / 2, owner, changed);
    }
    if (bytes > 0 && this.total.held > this.maxHeld) {
      this.keepWithin(this.maxHeld, this.total, changed);
    }
  }

  /**
   * If more memory is held than the maximum, closes the connections that hold most.
   * @param sum what an owner's connections hold, or all
   * @param changed the connection that is being read
   */
  private keepWithin(maximum: number, sum: Pick<Owner, 'held'>, changed: Connection): void {
    const all = [...this.all.values()].filter(({ owner }) => sum === this.total || sum === owner);
    all.forEach((connection) => connection.settle());
    if (sum.held > maximum) {
      for (const connection of all.sort((one, other) => other.held - one.held)) {
        if (sum.held <= maximum * (1 - FREED_PART)) {
          return;
        }
        this.all.delete(connection.socket);
        connection.destroy(connection === changed);
      }
    }
  }

  get open(): number {
    return this.all.size;
  }

  /**
   * Starts a request once the response before it on its connection has left, or never, if the connection ends before. Otherwise a
   * client that reads nothing could make the service hold a response for each request.
   */
  takeTurn(request: AccountedRequest, response: ServerResponse<AccountedRequest>, begin: () => void): void {
    const { socket } = request;
    const connection = this.all.get(socket);
    connection?.take(request);
    if (connection === undefined || !this.all.has(socket) || socket.destroyed) {
      return;
    }
    const previous = connection.newest;
    connection.newest = response;
    const start = (): void => {
      if (previous !== undefined) {
        connection.release(previous.req);
      }
      // If the connection has a later request, the response to that one announces the end.
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
      previous.once('close', () =>
        connection.context.runInAsyncScope(() => this.leaveQueue(socket, connection, start)),
      );
      this.enterQueue(socket, connection);
    }
  }

  private enterQueue(socket: Socket, connection: Connection): void {
    connection.waiting += 1;
    if (connection.waiting >= MAX_WAITING) {
      // Later, because Node reads on whenever a request is complete.
      process.nextTick(() => socket.pause());
    }
  }

  private leaveQueue(socket: Socket, connection: Connection, start: () => void): void {
    if (!socket.writable) {
      return;
    }
    connection.waiting -= 1;
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
    const connection = this.all.get(socket);
    if (connection === undefined) {
      return;
    }
    const { newest, waiting } = connection;
    const isTimedOut = failure.code === TIMED_OUT;
    if (isTimedOut && waiting > 0) {
      // The request waits for the service. If the request never becomes complete, the connection is closed for lack of progress.
      return;
    }
    if (isTimedOut && !connection.isArriving) {
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
    // A response to a request whose body is still arriving may have ended the socket.
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

/** Reports an error to the reader of a body, if there is one: later, because the reader of a new request does not listen yet. */
function failBody(request: IncomingMessage, error: ApiError): void {
  setImmediate(() => {
    if (!request.socket.destroyed && request.listenerCount('error') > 0) {
      request.emit('error', error);
    }
  });
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
