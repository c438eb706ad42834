// This file counts the memory that a connection takes for:
// - a request with its body, until the response to the request is sent (`AccountedRequest.heldBytes`)
// - a complete response, until the caller has read the response (also in `heldBytes` of the request)
// - received bytes that belong to no request yet, such as half of a header section (`unfinished`)
// Each change is reported to `Connections`, which adds up the memory of each caller and of all connections.
//
// This file, `connections.ts` and `malformed-request.ts` use parts of Node that Node does not document, and that any release
// of Node may change:
// - A socket has a property `parser`, and the parser has a property `socket`.
// - The parser calls its function `0` (`HTTPParser.kOnMessageBegin`) when a message begins.
// - The parser calls its function `onIncoming` for each request. If this function returns 2, the parser ignores the rest of
//   the received bytes (`STOP_PARSING`).
// - Node calls `_unrefTimer` of a socket after each read.
// - Node closes the connection after a response whose `_last` is true.
// - A response whose `shouldKeepAlive` is false has the header `Connection: close`, and Node closes the connection after it.
// - If a server has `httpAllowHalfOpen`, Node keeps a connection whose caller has closed only its sending side.
// - Node looks at `upgrade` of a request right after it has called `onIncoming`, so our `onIncoming` sets `upgrade` to false.
// - When a socket emits `close`, Node frees the socket's parser.
// - `close` of `net.Server` stops listening, but does not close the idle connections of an HTTP server.
// The tests `connections.spec.ts`, `malformed-http.spec.ts` and `memory.spec.ts` passed with Node 20.20, 22.23 and 24.22. Run
// these tests with each new release of Node.
import { AsyncResource } from 'node:async_hooks';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ApiError } from '../errors';
import { MAX_BODY_BYTES } from '../json-body';

// Estimates of the memory that Node's objects take in addition to the received bytes: for each request, for each entry of
// `rawHeaders` (the name or the value of a header field), and for each chunk of a body. The test `memory.spec.ts` fails if
// an estimate is too low.
const REQUEST_OVERHEAD_BYTES = 6 * 1024;
const HEADER_ENTRY_OVERHEAD_BYTES = 64;
const CHUNK_OVERHEAD_BYTES = 400;
/**
 * Maximum bytes of memory for each received byte of an unfinished header section. A section with many very short fields
 * takes this much memory.
 */
const UNFINISHED_FACTOR = 9;
const JOINED_CHUNKS_BYTES = 4_096;
/**
 * Maximum bytes of memory for each character of the text of an unsent response. The bytes of the response in UTF-8 are
 * counted separately.
 */
const STRING_FACTOR = 2;

/** The number of open connections of one caller, and the sum of the memory that these connections take. */
export interface ConnectionTally {
  connections: number;
  heldBytes: number;
}

interface Parser {
  socket: Socket;
  /** Node's HTTP parser calls this function (`HTTPParser.kOnMessageBegin`) at the first byte of each message. */
  0: (this: Parser) => void;
  /**
   * Node's HTTP parser calls this function when the header section of a request has arrived. Node's own function starts the
   * request at once: it creates the response and emits `request`. `Connection` replaces that function, and calls it
   * (`startRequest`) when it is the turn of the request.
   * @returns 0 to parse the body, or `STOP_PARSING`
   */
  onIncoming: (request: AccountedRequest, keepAlive: boolean) => number;
}

/** With this result of `onIncoming`, Node's parser ignores the rest of the received bytes. */
export const STOP_PARSING = 2;

interface ParsedSocket extends Socket {
  parser: Parser;
  /**
   * Node calls this internal method after each read and each write. The method is overridden to learn when bytes have
   * arrived.
   */
  _unrefTimer(): void;
}

/**
 * Sets `isMessageArriving`, because a message has begun to arrive. All connections share this one function, which takes
 * less memory than a function for each connection.
 */
function noteMessageBegin(this: Parser): void {
  const connection = Connection.of(this.socket);
  if (connection !== undefined) {
    connection.isMessageArriving = true;
  }
}

export class Connection {
  private static readonly bySocket = new WeakMap<Socket, Connection>();
  /**
   * The newest response that the service has begun to work on. It is in progress or already sent, because a connection's
   * responses are made one after the other.
   */
  response?: AccountedResponse;
  /**
   * Requests that have arrived, but start only when all earlier responses are sent. If a request started before its turn,
   * Node would keep the request in memory after the connection is closed, as long as the handler of an earlier request
   * runs.
   */
  waiting: { request: AccountedRequest; keepAlive: boolean }[] = [];
  /** True if all requests that arrive from now on are ignored, because too many requests wait. */
  ignoresMore = false;
  /** Set if the rest of the body of the newest request cannot be read. Reading the body then fails with this error. */
  brokenBy?: ApiError;
  heldBytes = 0;
  /** The bytes of memory that belong to no request yet, such as an unfinished header section. */
  private unfinished = 0;
  /**
   * The number of received bytes, since the connection was opened, that belong to a request whose header section has arrived.
   * The other received bytes are counted in `unfinished`.
   */
  private assignedBytes = 0;
  /** True from the first byte of a request to the end of its body. */
  isMessageArriving = false;
  /** The number of received bytes at the time when the latest header section was parsed. */
  private bytesReadAtRequest = 0;
  private context?: AsyncResource;
  /** True if the connection is closed, or will be closed in the next tick, because of its memory. */
  isDestroyed = false;
  /** Node's own `onIncoming`, which creates the response to a request and emits `request`. */
  readonly startRequest: Parser['onIncoming'];
  /** Aborted when the caller closes the connection or its sending side. */
  readonly ended = new AbortController();

  constructor(
    readonly socket: Socket,
    readonly tally: ConnectionTally | undefined,
    private readonly onChange: (connection: Connection, addedBytes: number) => void,
    onRequest: (connection: Connection, request: AccountedRequest, keepAlive: boolean) => number,
  ) {
    const parsed = socket as ParsedSocket;
    Connection.bySocket.set(socket, this);
    parsed.parser[0] = noteMessageBegin;
    this.startRequest = parsed.parser.onIncoming;
    parsed.parser.onIncoming = (request, keepAlive) => onRequest(this, request, keepAlive);
    parsed._unrefTimer = () => {
      (Socket.prototype as ParsedSocket)._unrefTimer.call(socket);
      this.noteRead(socket);
    };
    socket.once('end', () => {
      this.ended.abort();
      if (this.response !== undefined && this.waiting.length > 0) {
        // The caller has closed its sending side, so Node expects no further request, and has set `_last` of the response in
        // progress to close the connection after this response. But the requests in `waiting`, which Node does not know
        // yet, still have to be answered. So reset `_last`.
        Object.assign(this.response, { _last: false });
      }
    });
    socket.once('close', () => {
      this.ended.abort();
      this.waiting = [];
      this.change(-this.heldBytes);
    });
  }

  /** Returns the connection of a socket, or undefined if the server has refused the connection. */
  static of(socket: Socket): Connection | undefined {
    return Connection.bySocket.get(socket);
  }

  /** True if nothing can be sent any more. */
  get isClosed(): boolean {
    return this.isDestroyed || this.socket.destroyed;
  }

  /** Returns the newest request if its response is not sent yet. */
  get newest(): AccountedRequest | undefined {
    const { response, waiting } = this;
    return waiting.at(-1)?.request ?? (response === undefined || isSent(response) ? undefined : response.req);
  }

  /**
   * Notes whether a request is the first one in the bytes that Node has just read from the socket (`isFirstOfPacket`). Only
   * the first one may start in the same turn of the event loop. Called once the request's header section has been parsed.
   */
  noteFirstOfPacket(request: AccountedRequest): void {
    const { bytesRead } = this.socket;
    request.isFirstOfPacket = bytesRead !== this.bytesReadAtRequest;
    this.bytesReadAtRequest = bytesRead;
  }

  /** Adds the memory of a request, whose header section has arrived, to the memory of the connection. */
  holdHeaderSection(request: AccountedRequest): void {
    const { rawHeaders, url = '' } = request;
    let length = url.length;
    for (const part of rawHeaders) {
      length += part.length;
    }
    // Count three more bytes for each header field (a colon and the line end), that is, 1.5 bytes for each entry of
    // `rawHeaders`.
    this.assignToRequest(length + rawHeaders.length * 1.5);
    this.hold(request, REQUEST_OVERHEAD_BYTES + rawHeaders.length * HEADER_ENTRY_OVERHEAD_BYTES + length);
  }

  /**
   * Notes that received bytes belong to a request. `noteRead` counts all other received bytes as the beginning of a request
   * that has not arrived yet.
   */
  assignToRequest(bytes: number): void {
    this.assignedBytes += bytes;
  }

  /** Adds bytes to the memory of a request and of its connection. */
  hold(request: AccountedRequest, bytes: number): void {
    request.heldBytes += bytes;
    this.change(bytes);
  }

  release(request: AccountedRequest): void {
    this.change(-request.heldBytes);
    request.heldBytes = 0;
  }

  /**
   * Returns the async context in which waiting requests start. All requests of a connection share one context, because a
   * context for each of them would take more memory, and many requests may wait on thousands of connections.
   */
  asyncContext(): AsyncResource {
    this.context ??= new AsyncResource('Connection');
    return this.context;
  }

  /**
   * Releases the memory of the request that was started last, if the response to this request is sent. The memory of
   * earlier requests is released already, because `takeTurn` does so when it starts the next request.
   */
  releaseIfSent(): void {
    if (this.response !== undefined && isSent(this.response)) {
      this.release(this.response.req);
    }
  }

  /**
   * Closes the connection in the next tick, because the connection may be writing at this moment.
   * @param isParsing true if Node may be parsing received bytes of this connection at this moment, so that the parser must
   * not be freed yet
   */
  destroy(isParsing: boolean): void {
    this.change(-this.heldBytes);
    this.isDestroyed = true;
    this.waiting = [];
    process.nextTick(() => {
      this.socket.destroy();
      if (!isParsing) {
        // Emit `close` now, so that the parser and the other memory of the connection are freed at once. Node itself emits
        // `close` only after reading from all other connections.
        this.socket.emit('close');
      }
    });
  }

  /** Counts received bytes that belong to no request yet, such as half of a header section. */
  private noteRead({ bytesRead }: Socket): void {
    const { response, waiting } = this;
    // If the response is complete before the body of the request has arrived, Node discards the rest of the body. So the
    // bytes of this rest take no memory, and are not counted.
    const isDiscarding = waiting.length === 0 && response?.writableEnded && !response.req.complete;
    if (isDiscarding || !this.isMessageArriving) {
      this.assignedBytes = bytesRead;
    }
    const unfinished = Math.max(0, bytesRead - this.assignedBytes) * UNFINISHED_FACTOR;
    if (unfinished !== this.unfinished) {
      const change = unfinished - this.unfinished;
      this.unfinished = unfinished;
      this.change(change);
    }
  }

  private change(bytes: number): void {
    if (!this.isDestroyed) {
      this.heldBytes += bytes;
      this.onChange(this, bytes);
    }
  }
}

export function isSent(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

export function disconnectSignalOf(socket: Socket): AbortSignal {
  return Connection.of(socket)!.ended.signal;
}

/**
 * A request whose body is counted as memory of its connection. Short chunks of the body are joined, because Node takes
 * about 400 bytes for each chunk, even for a chunk of one byte.
 */
export class AccountedRequest extends IncomingMessage {
  heldBytes = 0;
  /** False if an earlier header section on the connection arrived in the same packet, that is, in the same read. */
  isFirstOfPacket = true;
  /** The result of `performance.now()` when the last byte of the request arrived. */
  arrivedAt?: number;
  private bodyBytes = 0;
  private joinedChunks: Buffer | undefined;
  private joinedBytes = 0;

  override push(chunk: Buffer | null): boolean {
    const connection = Connection.of(this.socket);
    if (chunk === null) {
      this.arrivedAt = performance.now();
      if (connection !== undefined) {
        connection.isMessageArriving = false;
      }
    } else {
      connection?.assignToRequest(chunk.length);
      const isFirst = this.bodyBytes === 0;
      this.bodyBytes += chunk.length;
      const isAllowed = this.bodyBytes <= MAX_BODY_BYTES;
      if (!isFirst && isAllowed && chunk.length <= JOINED_CHUNKS_BYTES - this.joinedBytes) {
        this.joinedChunks ??= this.accounted(Buffer.allocUnsafeSlow(JOINED_CHUNKS_BYTES));
        this.joinedBytes += chunk.copy(this.joinedChunks, this.joinedBytes);
        return true;
      }
    }
    if (this.joinedChunks !== undefined) {
      super.push(this.joinedChunks.subarray(0, this.joinedBytes));
      [this.joinedChunks, this.joinedBytes] = [undefined, 0];
    }
    return super.push(chunk && this.accounted(chunk));
  }

  private accounted(part: Buffer): Buffer {
    // Do not count all of a body that is too long, because Node discards the rest of such a body. Only the chunk that exceeds
    // the allowed 64 KiB is in memory, too. Node reads at most another 64 KiB at a time, so counting stops at 128 KiB.
    if (this.bodyBytes <= MAX_BODY_BYTES * 2) {
      Connection.of(this.socket)?.hold(this, CHUNK_OVERHEAD_BYTES + part.length);
    }
    return part;
  }
}

/** A response whose content is counted as memory of its connection until the caller has read the content. */
export class AccountedResponse<
  Request extends IncomingMessage = AccountedRequest,
> extends ServerResponse<Request> {
  override end(...given: unknown[]): this {
    super.end(...(given as []));
    const [content] = given;
    const { socket } = this.req;
    if ((typeof content === 'string' || content instanceof Uint8Array) && socket.writableLength > 0) {
      Connection.of(socket)?.hold(
        this.req as IncomingMessage as AccountedRequest,
        Buffer.byteLength(content) + content.length * STRING_FACTOR,
      );
    }
    return this;
  }
}
