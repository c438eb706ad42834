// A request of a connection passes these states:
//
//   arriving --> waiting --> started --> sent
//       |                       ^
//       +-----------------------+
//
// - arriving: the first byte has arrived, but not all of the header section (`Connection.unfinished`, in bytes)
// - waiting: the header section has arrived (`admit`), but an earlier response is not sent yet (`Connection.waiting`)
// - started: it is the request's turn (`takeTurn`), also if its body is still arriving (`Connection.response`)
// - sent: the system has taken the whole response (`isSent`); the next request starts (`startNext`)
//
// While MAX_WAITING requests wait, the server does not read from the connection. If thousands of requests arrive at once, the
// connection ignores requests beyond MAX_WAITING_OF_PACKET (`ignoresMore`). A connection that is closed for its memory is
// `isDestroyed`.
//
// The comment in `connection.ts` lists the undocumented parts of Node that both files use.
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { type ApiError, BadRequestError } from '../errors';
import {
  type AccountedRequest,
  type AccountedResponse,
  Connection,
  type ConnectionTally,
  STOP_PARSING,
  isSent,
} from './connection';
import { type ParserError, answerMalformed, failBody } from './malformed-request';

/** If this many requests of a connection wait for earlier responses, the server stops reading from the connection. */
const MAX_WAITING = 16;
/**
 * Number of requests of one connection that may always wait. More than MAX_WAITING requests wait if they arrive in one read
 * (here called a packet), because Node parses all bytes of a packet at once.
 */
const MAX_WAITING_OF_PACKET = 128;
/**
 * Number of requests that may wait in addition to the MAX_WAITING_OF_PACKET of their connection, in one second and on all
 * connections together. If more such requests arrive, their connection ignores its further requests. After the responses to
 * its waiting requests, the server sends a last response with status 400 and closes the connection. Without this limit, a
 * thousand packets of 64 KB, which can have 3,500 requests each, would keep the process busy for 20 seconds.
 */
const MAX_MORE_IN_SECOND = 8_000;
/**
 * Maximum of the estimated bytes of memory that all requests and unread responses take together. The requests and
 * unread responses of one caller may take half of this maximum.
 */
const MAX_HELD_BYTES = 96 * 1024 * 1024;
/** If a maximum of memory is exceeded, connections are closed until this fraction of the maximum is free. */
const FREED_FRACTION = 1 / 32;

/**
 * Maximum number of connections. The number is limited because each connection can keep an unread response in memory
 * for a minute.
 */
export const MAX_CONNECTIONS = 15_000;

const CLOSE_IDLE_INTERVAL_MS = 1_000;

/**
 * The reason why a connection is closed: too much memory (`memory`), too many connections of one address (`address`),
 * or too many connections in total (`total`).
 */
export type Refusal = 'memory' | 'address' | 'total';

type Handler = RequestListener<typeof AccountedRequest, typeof AccountedResponse>;

export interface ConnectionsOptions {
  /** Answers a request. Called once the previous response on the same connection is sent. */
  handle: Handler;
  /** Returns headers to add to the response to a malformed request. Default: no headers. */
  headersOf?: (socket: Socket) => Promise<Record<string, string>>;
  /**
   * Returns the name of the caller behind an address, or undefined for a trusted proxy, which has many callers. Default:
   * undefined for each address.
   */
  callerNameOf?: (address: string) => string | undefined;
  onRefusal?: (reason: Refusal) => void;
  /** Maximum memory of all connections. Default: MAX_HELD_BYTES. */
  maxHeldBytes?: number;
  /** Maximum number of requests beyond MAX_WAITING_OF_PACKET that may wait in a second. Default: MAX_MORE_IN_SECOND. */
  maxMoreInSecond?: number;
}

/** The connections of a server, with limits on number and memory. Each connection handles one request at a time. */
export class Connections {
  readonly refused: Record<Refusal, number> = { memory: 0, address: 0, total: 0 };
  private readonly options: Required<ConnectionsOptions>;
  private readonly all = new Set<Connection>();
  private readonly tallies = new Map<string, ConnectionTally>();
  private readonly total = { heldBytes: 0 };
  private ending = false;
  /**
   * The number of requests beyond MAX_WAITING_OF_PACKET in the current second. A second begins when `performance.now()`
   * reaches a whole second, not with the first such request, so twice the maximum may wait within 1,000 ms.
   */
  private more = { second: 0, count: 0 };

  /** @param server a server that does not listen yet, because earlier connections would not be counted */
  constructor(
    private readonly server: Server<typeof AccountedRequest, typeof AccountedResponse>,
    options: ConnectionsOptions,
  ) {
    this.options = {
      headersOf: () => Promise.resolve({}),
      callerNameOf: () => undefined,
      onRefusal: () => undefined,
      maxHeldBytes: MAX_HELD_BYTES,
      maxMoreInSecond: MAX_MORE_IN_SECOND,
      ...options,
    };
    server.maxConnections = MAX_CONNECTIONS;
    // Keep a connection open when the caller closes only its sending side, because the caller still reads the response.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('drop', () => this.noteRefusal('total'));
    server.on('connection', (socket: Socket) => this.accept(socket));
    const begin: Handler = (request, response) => this.takeTurn(request, response);
    server.removeAllListeners('request').on('request', begin).on('checkExpectation', begin);
    // Replace the existing listener for malformed requests, because its answer does not have the JSON of the other
    // errors.
    server.removeAllListeners('clientError');
    server.on('clientError', (failure, socket) => this.refuse(failure, socket as Socket));
    server.on('connect', ({ socket }) =>
      this.refuse(new BadRequestError('The service is not a proxy.'), socket),
    );
  }

  get open(): number {
    return this.all.size;
  }

  private accept(socket: Socket): void {
    const name = this.options.callerNameOf(socket.remoteAddress ?? '');
    const tally =
      name === undefined ? undefined : (this.tallies.get(name) ?? { connections: 0, heldBytes: 0 });
    if (tally !== undefined && tally.connections >= this.server.maxConnections / 2) {
      socket.destroy();
      this.noteRefusal('address');
      return;
    }
    const connection = new Connection(
      socket,
      tally,
      (...changed) => this.account(...changed),
      (...arrived) => this.admit(...arrived),
    );
    this.all.add(connection);
    if (tally !== undefined) {
      tally.connections += 1;
      this.tallies.set(name!, tally);
    }
    socket.once('close', () => {
      this.all.delete(connection);
      if (tally !== undefined && (tally.connections -= 1) === 0) {
        this.tallies.delete(name!);
      }
    });
  }

  private refuse(failure: ParserError | ApiError, socket: Socket): void {
    const connection = Connection.of(socket);
    if (connection !== undefined && !connection.isDestroyed) {
      const headersOf = () => this.options.headersOf(socket);
      answerMalformed(connection, failure, headersOf).catch(() => socket.destroy());
    }
  }

  /**
   * Starts a request whose header section has arrived. If an earlier response on the connection is not sent yet, the
   * request waits for that response, so that many unsent responses do not fill the memory.
   * @returns what Node's parser does next: 0 to parse the body, or `STOP_PARSING`
   */
  private admit(connection: Connection, request: AccountedRequest, keepAlive: boolean): number {
    const { socket, response, waiting } = connection;
    if (request.method === 'CONNECT') {
      return connection.startRequest(request, keepAlive);
    }
    if (waiting.length >= MAX_WAITING_OF_PACKET && !connection.ignoresMore && !this.mayMoreWait()) {
      connection.ignoresMore = true;
      const failure = new BadRequestError(
        `Too many requests arrived at once. Send at most ${MAX_WAITING_OF_PACKET} requests before the first response arrives.`,
      );
      this.refuse(failure, socket);
    }
    if (connection.ignoresMore) {
      return STOP_PARSING;
    }
    connection.noteFirstOfPacket(request);
    connection.holdHeaderSection(request);
    if (connection.isClosed) {
      return STOP_PARSING;
    }
    if (response === undefined || isSent(response)) {
      return connection.startRequest(request, keepAlive);
    }
    // Ignore a wish to upgrade to another protocol, which the service does not support. Node would clear `upgrade` in
    // `startRequest`, which is too late for a request that waits. Node checks `upgrade` of the newest request right after
    // parsing the received bytes, and no longer handles HTTP on the connection if it is true.
    Object.assign(request, { upgrade: false });
    waiting.push({ request, keepAlive });
    if (waiting.length === 1) {
      this.startNextAfter(response, connection);
    }
    if (waiting.length >= MAX_WAITING) {
      // Stop reading in the next tick and not now, because Node resumes reading as soon as the current request is
      // complete.
      process.nextTick(() => socket.pause());
    }
    return 0;
  }

  /**
   * Counts a request that has arrived while MAX_WAITING_OF_PACKET requests of its connection were already waiting. Returns
   * false if more than MAX_MORE_IN_SECOND such requests have arrived in this second, on all connections together.
   */
  private mayMoreWait(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    const count = second === this.more.second ? this.more.count + 1 : 1;
    this.more = { second, count };
    return count <= this.options.maxMoreInSecond;
  }

  private startNextAfter(response: AccountedResponse, connection: Connection): void {
    // Start the next request in the async context of the connection. Otherwise the next request would have the async context
    // of the previous request, as if the previous request had caused the next one.
    const context = connection.asyncContext();
    response.once('finish', () => context.runInAsyncScope(() => this.startNext(connection)));
  }

  private startNext(connection: Connection): void {
    const { socket, waiting } = connection;
    if (!socket.writable) {
      connection.waiting = [];
      return;
    }
    const next = waiting.shift()!;
    if (waiting.length < MAX_WAITING && socket.isPaused()) {
      socket.resume();
    }
    connection.startRequest(next.request, next.keepAlive);
    if (waiting.length > 0) {
      this.startNextAfter(connection.response!, connection);
    }
  }

  /**
   * Calls `handle`, which answers the request. If other requests came before this one in the same packet, calls `handle` in
   * the next turn of the event loop, so that other connections have their turn between two requests of this connection. This
   * method must not be called before the previous response on the connection is sent.
   */
  private takeTurn(request: AccountedRequest, response: AccountedResponse): void {
    const { socket } = request;
    const connection = Connection.of(socket);
    if (connection === undefined || connection.isClosed) {
      return;
    }
    if (connection.response !== undefined) {
      connection.release(connection.response.req);
    }
    connection.response = response;
    const start = () => {
      if (socket.destroyed) {
        return;
      }
      const isNewest = connection.waiting.length === 0;
      // Only the response to the newest request closes the connection. If an earlier response closed the connection, the
      // requests that wait would be lost.
      if (isNewest && (this.ending || socket.readableEnded)) {
        response.shouldKeepAlive = false;
      }
      this.options.handle(request, response);
      if (isNewest && connection.brokenBy !== undefined) {
        failBody(request, connection.brokenBy);
      }
    };
    if (request.isFirstOfPacket) {
      start();
    } else {
      setImmediate(start);
    }
  }

  private account(changed: Connection, addedBytes: number): void {
    const { tally } = changed;
    const { maxHeldBytes } = this.options;
    this.total.heldBytes += addedBytes;
    if (tally !== undefined) {
      tally.heldBytes += addedBytes;
    }
    if (addedBytes > 0 && tally !== undefined && tally.heldBytes > maxHeldBytes / 2) {
      this.keepWithin(maxHeldBytes / 2, tally, changed);
    }
    if (addedBytes > 0 && this.total.heldBytes > maxHeldBytes) {
      this.keepWithin(maxHeldBytes, this.total, changed);
    }
  }

  /**
   * If `sum.heldBytes` is above `maximum`, closes the connections that hold the most memory.
   * @param sum the memory of one caller's connections, or of all connections
   * @param changed the connection whose memory has grown, probably because Node's parser has just read a request. If this
   * connection is closed, `destroy` must not free its parser at once, because the parser may still be running
   */
  private keepWithin(maximum: number, sum: Pick<ConnectionTally, 'heldBytes'>, changed: Connection): void {
    const all = [...this.all].filter(({ tally }) => sum === this.total || sum === tally);
    all.forEach((connection) => connection.releaseIfSent());
    if (sum.heldBytes > maximum) {
      for (const connection of all.sort((one, other) => other.heldBytes - one.heldBytes)) {
        if (sum.heldBytes <= maximum * (1 - FREED_FRACTION)) {
          return;
        }
        this.all.delete(connection);
        connection.destroy(connection === changed);
        this.noteRefusal('memory');
      }
    }
  }

  private noteRefusal(reason: Refusal): void {
    this.refused[reason] += 1;
    this.options.onRefusal(reason);
  }

  /**
   * From now on, a response closes its connection, unless more requests wait on the connection. Callers then open their next
   * connection to another replica of the service.
   */
  announceEnd(): void {
    this.ending = true;
    for (const { response, waiting } of this.all) {
      if (response?.headersSent === false && waiting.length === 0) {
        response.shouldKeepAlive = false;
      }
    }
  }

  /**
   * Stops listening, waits for the requests in progress, and closes all connections.
   * @param patienceMs how many milliseconds the requests may take; the connections of slower requests are closed
   */
  async end(patienceMs: number): Promise<void> {
    this.announceEnd();
    // Do not call `close()` of the HTTP server. That method would close idle connections at once, although a request
    // may be on its way on such a connection.
    NetServer.prototype.close.call(this.server);
    const closing = setInterval(() => this.closeUnused(), CLOSE_IDLE_INTERVAL_MS);
    const patience = setTimeout(() => this.destroyAll(), patienceMs);
    await once(this.server, 'close');
    clearInterval(closing);
    clearTimeout(patience);
  }

  destroyAll(): void {
    this.server.closeAllConnections();
  }

  private closeUnused(): void {
    for (const { socket, newest } of this.all) {
      if (newest === undefined) {
        socket.destroySoon();
      }
    }
  }
}
