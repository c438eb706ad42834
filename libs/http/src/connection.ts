import { AsyncResource } from 'node:async_hooks';
import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ApiError } from './errors';
import { MAX_BODY_BYTES } from './json-body';

// Estimates of the memory that Node takes, in bytes. `memory.spec.ts` of the system tests fails if they are too low.
/** A request with its response. */
const REQUEST_BYTES = 6 * 1024;
/** The name or the value of a header field, besides its characters. */
const FIELD_BYTES = 64;
/** A part of a body, besides its content. */
const PART_OVERHEAD = 400;
/** A byte of a header section that is not complete yet. The shortest field has four bytes, each of which takes this much. */
const UNFINISHED_FACTOR = 9;

/** Parts of a body that are shorter are joined to parts of this length. */
const PART_BYTES = 4_096;

/** A caller whose connections count together. */
export interface Owner {
  connections: number;
  /** Estimated memory, in bytes. */
  held: number;
}

interface Parser {
  socket: Socket;
  /** `HTTPParser.kOnMessageBegin`: Node calls the function at the first byte of each message. Node itself sets none. */
  0: (this: Parser) => void;
}

interface ParsedSocket extends Socket {
  parser: Parser;
  /** Node calls it after everything that was read or written. */
  _unrefTimer(): void;
}

const accounts = new WeakMap<Socket, Connection>();

/** One function for all connections: Node keeps a parser for later connections, and would keep what the function refers to. */
function noteMessageBegin(this: Parser): void {
  const connection = accounts.get(this.socket);
  if (connection !== undefined) {
    connection.isArriving = true;
  }
}

/**
 * A request whose body is accounted to its connection as it arrives. Small parts of the body are joined, because Node makes a
 * buffer of each chunk (RFC 9112, section 7.1), which takes four hundred times the memory of a single byte.
 */
export class AccountedRequest extends IncomingMessage {
  /** Estimated memory, in bytes; 0 once the request is answered. */
  held = 0;
  private bodyBytes = 0;
  /** Small parts that were joined, and not pushed yet. */
  private joined: Buffer | undefined;
  private joinedBytes = 0;

  /** @param chunk null at the end of the message */
  override push(chunk: Buffer | null): boolean {
    const connection = accounts.get(this.socket);
    if (chunk === null && connection !== undefined) {
      connection.isArriving = false;
    }
    if (chunk !== null) {
      connection?.attribute(chunk.length);
      const isFirst = this.bodyBytes === 0;
      this.bodyBytes += chunk.length;
      const isAllowed = this.bodyBytes <= MAX_BODY_BYTES;
      if (!isFirst && isAllowed && chunk.length <= PART_BYTES - this.joinedBytes) {
        this.joined ??= this.accounted(Buffer.allocUnsafeSlow(PART_BYTES));
        this.joinedBytes += chunk.copy(this.joined, this.joinedBytes);
        return true;
      }
    }
    if (this.joined !== undefined) {
      super.push(this.joined.subarray(0, this.joinedBytes));
      [this.joined, this.joinedBytes] = [undefined, 0];
    }
    return super.push(chunk && this.accounted(chunk));
  }

  private accounted(part: Buffer): Buffer {
    // If a body is too long, the request is refused, and nothing more of the body is kept.
    if (this.bodyBytes <= MAX_BODY_BYTES * 2) {
      accounts.get(this.socket)?.hold(this, PART_OVERHEAD + part.length);
    }
    return part;
  }
}

/** A connection, and how much memory its requests take until they are answered. */
export class Connection {
  /** The response to its newest request, finished or not. */
  newest?: ServerResponse<AccountedRequest>;
  /** Why the body of its newest request cannot be read. */
  brokenBy?: ApiError;
  /** How many requests wait for the response to the request before. */
  waiting = 0;
  /** Waiting requests start in this context: otherwise each would run in the context of the request before it. */
  readonly context = new AsyncResource('Connection');
  /** Estimated memory, in bytes. */
  held = 0;
  /** The part of `held` for a message that is no request yet, or for the framing and the trailers of a body. */
  private unfinished = 0;
  /** How many of the bytes that were read belong to requests. */
  private attributed = 0;
  /** Whether a message has begun to arrive, and not ended. */
  isArriving = false;
  private isDestroyed = false;
  private readonly ended = new AbortController();

  /** @param onChange called after each change of `held`, with the difference */
  constructor(
    readonly socket: Socket,
    readonly owner: Owner | undefined,
    private readonly onChange: (connection: Connection, change: number) => void,
  ) {
    const parsed = socket as ParsedSocket;
    accounts.set(socket, this);
    parsed.parser[0] = noteMessageBegin;
    parsed._unrefTimer = () => {
      (Socket.prototype as ParsedSocket)._unrefTimer.call(socket);
      this.noteRead(socket);
    };
    socket.once('end', () => this.ended.abort());
    socket.once('close', () => {
      this.ended.abort();
      this.change(-this.held);
    });
  }

  get endSignal(): AbortSignal {
    return this.ended.signal;
  }

  /** Accounts a request whose header section is complete. */
  take(request: AccountedRequest): void {
    const { rawHeaders, url = '' } = request;
    let length = url.length;
    for (const part of rawHeaders) {
      length += part.length;
    }
    // A field has at least three more bytes: its colon, and the end of its line.
    this.attribute(length + rawHeaders.length * 1.5);
    this.hold(request, REQUEST_BYTES + rawHeaders.length * FIELD_BYTES + length);
  }

  attribute(bytes: number): void {
    this.attributed += bytes;
  }

  hold(request: AccountedRequest, bytes: number): void {
    request.held += bytes;
    this.change(bytes);
  }

  release(request: AccountedRequest): void {
    this.change(-request.held);
    request.held = 0;
  }

  /** Releases the newest request if it is answered, which happens otherwise when the next one begins. */
  settle(): void {
    if (this.newest !== undefined && isSent(this.newest)) {
      this.release(this.newest.req);
    }
  }

  /**
   * Closes the connection, soon: it may be writing at this moment.
   * @param isParsing its parser may be at work, and cannot be freed immediately
   */
  destroy(isParsing: boolean): void {
    this.change(-this.held);
    this.isDestroyed = true;
    process.nextTick(() => {
      this.socket.destroy();
      if (!isParsing) {
        // Node would free the parser and the requests only after it has read from all connections that have something to read.
        this.socket.emit('close');
      }
    });
  }

  /** Accounts bytes that belong to no request yet: Node keeps header fields to itself until their section is complete. */
  private noteRead({ bytesRead }: Socket): void {
    const isRefused = this.newest?.writableEnded && !this.newest.req.complete;
    if (isRefused || !this.isArriving) {
      this.attributed = bytesRead;
    }
    const unfinished = Math.max(0, bytesRead - this.attributed) * UNFINISHED_FACTOR;
    if (unfinished !== this.unfinished) {
      const change = unfinished - this.unfinished;
      this.unfinished = unfinished;
      this.change(change);
    }
  }

  private change(bytes: number): void {
    if (!this.isDestroyed) {
      this.held += bytes;
      this.onChange(this, bytes);
    }
  }
}

export function isSent(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** Aborts when the other side sends nothing more: it has closed the connection, or its half of it. */
export function disconnectSignalOf(socket: Socket): AbortSignal {
  return accounts.get(socket)!.endSignal;
}
