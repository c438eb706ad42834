// This file counts the memory that a connection takes for:
// - a request with its body, until the response to the request is sent (`AccountedRequest.heldBytes`)
// - a complete response, until the caller has read the response (also in `heldBytes` of the request)
// - received bytes that belong to no request yet, such as half of a header section (`unfinished`)
// Each change is reported to `Connections`, which adds up the memory of each caller and of all connections.
import { AsyncResource } from 'node:async_hooks';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ApiError } from './errors';
import { MAX_BODY_BYTES } from './json-body';

/**
 * Estimated bytes of memory that Node takes besides the content of a request, of a name or value of a header field, and
 * of a chunk of a body. `memory.spec.ts` fails if an estimate is too low.
 */
const REQUEST_BYTES = 6 * 1024;
const FIELD_PART_BYTES = 64;
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

export interface Caller {
  connections: number;
  heldBytes: number;
}

interface Parser {
  socket: Socket;
  /** Node's HTTP parser calls this function (`HTTPParser.kOnMessageBegin`) at the first byte of each message. */
  0: (this: Parser) => void;
  /**
   * Node's HTTP parser calls this function when the header section of a request has arrived. Node's function creates the
   * response and emits `request`.
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

const connections = new WeakMap<Socket, Connection>();

/**
 * Sets `isMessageArriving`, because a message has begun to arrive. All connections share this one function, which takes
 * less memory than a function for each connection.
 */
function noteMessageBegin(this: Parser): void {
  const connection = connections.get(this.socket);
  if (connection !== undefined) {
    connection.isMessageArriving = true;
  }
}

/**
 * A request whose body is counted as memory of its connection. Short chunks of the body are joined, because Node takes
 * about 400 bytes for each chunk, even for a chunk of one byte.
 */
export class AccountedRequest extends IncomingMessage {
  heldBytes = 0;
  /** False if the header section of another request came before in the same received packet. */
  isFirstOfPacket = true;
  private bodyBytes = 0;
  private joinedChunks: Buffer | undefined;
  private joinedBytes = 0;

  override push(chunk: Buffer | null): boolean {
    const connection = connections.get(this.socket);
    if (chunk === null && connection !== undefined) {
      connection.isMessageArriving = false;
    }
    if (chunk !== null) {
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
    // Stop counting when the body is twice as long as allowed: a body that is too long is refused, and the rest of the
    // body is not kept in memory.
    if (this.bodyBytes <= MAX_BODY_BYTES * 2) {
      connections.get(this.socket)?.hold(this, CHUNK_OVERHEAD_BYTES + part.length);
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
      connections
        .get(socket)
        ?.hold(
          this.req as IncomingMessage as AccountedRequest,
          Buffer.byteLength(content) + content.length * STRING_FACTOR,
        );
    }
    return this;
  }
}

export class Connection {
  /** The response to the latest request that has started. */
  running?: AccountedResponse;
  /**
   * Requests that start once earlier responses are sent. A waiting request is not passed to Node before its turn.
   * Otherwise Node's own list would keep the waiting requests in memory after the connection is closed, as long as the
   * handler of the running request runs.
   */
  waiting: { request: AccountedRequest; keepAlive: boolean }[] = [];
  /** True if all requests that arrive from now on are ignored, because too many requests wait. */
  ignoresMore = false;
  /** The error with which the newest request fails, if the rest of its body cannot be read. */
  brokenBy?: ApiError;
  heldBytes = 0;
  /** The bytes of memory that belong to no request yet, such as an unfinished header section. */
  private unfinished = 0;
  private assignedBytes = 0;
  isMessageArriving = false;
  /** The number of received bytes at the time when the latest header section was parsed. */
  private bytesReadAtRequest = 0;
  private context?: AsyncResource;
  isDestroyed = false;
  readonly passToNode: Parser['onIncoming'];
  /** Aborted when the caller closes the connection or its sending side. */
  readonly ended = new AbortController();

  constructor(
    readonly socket: Socket,
    readonly caller: Caller | undefined,
    private readonly onChange: (connection: Connection, addedBytes: number) => void,
    onRequest: (connection: Connection, request: AccountedRequest, keepAlive: boolean) => number,
  ) {
    const parsed = socket as ParsedSocket;
    connections.set(socket, this);
    parsed.parser[0] = noteMessageBegin;
    this.passToNode = parsed.parser.onIncoming;
    parsed.parser.onIncoming = (request, keepAlive) => onRequest(this, request, keepAlive);
    parsed._unrefTimer = () => {
      (Socket.prototype as ParsedSocket)._unrefTimer.call(socket);
      this.noteRead(socket);
    };
    socket.once('end', () => {
      this.ended.abort();
      if (this.running !== undefined && this.waiting.length > 0) {
        // Node sets `_last` of the running response, and would close the connection after this response. Reset `_last`,
        // because the requests in `waiting` still have to be answered.
        Object.assign(this.running, { _last: false });
      }
    });
    socket.once('close', () => {
      this.ended.abort();
      this.waiting = [];
      this.change(-this.heldBytes);
    });
  }

  /** Returns the newest request if its response is not sent yet. */
  get newest(): AccountedRequest | undefined {
    const { running, waiting } = this;
    return waiting.at(-1)?.request ?? (running === undefined || isSent(running) ? undefined : running.req);
  }

  /** Adds the memory of a request, whose header section has arrived, to the memory of the connection. */
  take(request: AccountedRequest): void {
    const { rawHeaders, url = '' } = request;
    const { bytesRead } = this.socket;
    request.isFirstOfPacket = bytesRead !== this.bytesReadAtRequest;
    this.bytesReadAtRequest = bytesRead;
    let length = url.length;
    for (const part of rawHeaders) {
      length += part.length;
    }
    // Count three more bytes for each header field: a colon and the line end. A field has two entries in `rawHeaders`.
    this.assignToRequest(length + rawHeaders.length * 1.5);
    this.hold(request, REQUEST_BYTES + rawHeaders.length * FIELD_PART_BYTES + length);
  }

  assignToRequest(bytes: number): void {
    this.assignedBytes += bytes;
  }

  hold(request: AccountedRequest, bytes: number): void {
    request.heldBytes += bytes;
    this.change(bytes);
  }

  release(request: AccountedRequest): void {
    this.change(-request.heldBytes);
    request.heldBytes = 0;
  }

  /**
   * Returns the async context in which waiting requests start. The requests of a connection share one context, because a
   * packet can have thousands of requests.
   */
  asyncContext(): AsyncResource {
    this.context ??= new AsyncResource('Connection');
    return this.context;
  }

  /** Stops counting the memory of the latest started request if its response is sent. */
  settle(): void {
    if (this.running !== undefined && isSent(this.running)) {
      this.release(this.running.req);
    }
  }

  /**
   * Closes the connection in the next tick, because the connection may be writing at this moment.
   * @param isParsing true if the connection's parser may be running; the parser must then not be freed yet
   */
  destroy(isParsing: boolean): void {
    this.change(-this.heldBytes);
    this.isDestroyed = true;
    this.waiting = [];
    process.nextTick(() => {
      this.socket.destroy();
      if (!isParsing) {
        // Emit `close` now, so that the memory of the connection is freed at once. Node itself would emit `close` only
        // after reading from all other connections.
        this.socket.emit('close');
      }
    });
  }

  /** Counts received bytes that belong to no request yet, such as half of a header section. */
  private noteRead({ bytesRead }: Socket): void {
    const { running, waiting } = this;
    const isRefused = waiting.length === 0 && running?.writableEnded && !running.req.complete;
    if (isRefused || !this.isMessageArriving) {
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
  return connections.get(socket)!.ended.signal;
}
