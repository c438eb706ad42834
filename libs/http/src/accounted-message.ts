import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_BODY_BYTES } from './json-body';

/**
 * Estimate of the memory that Node takes for each chunk of a body in addition to the bytes of the chunk. The test
 * `memory.spec.ts` fails if the estimate is too low.
 */
const CHUNK_OVERHEAD_BYTES = 400;
const JOINED_CHUNKS_BYTES = 4_096;
/**
 * Maximum bytes of memory for each character of the text of an unsent response. The bytes of the response in UTF-8 are
 * counted separately.
 */
const STRING_FACTOR = 2;

/** The part of a connection (`connection.ts`) that requests, responses and the parser use. */
export interface AccountedConnection {
  /** True from the first byte of a request to the end of its body. */
  isMessageArriving: boolean;
  /** Notes that received bytes belong to a request. */
  assignToRequest(bytes: number): void;
  /** Adds bytes to the memory of a request and of its connection. */
  hold(request: AccountedRequest, bytes: number): void;
  /** Aborted when the caller closes the connection or its sending side. */
  readonly ended: AbortController;
}

export const accountedConnections = new WeakMap<Socket, AccountedConnection>();

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
    const connection = accountedConnections.get(this.socket);
    if (chunk === null) {
      this.arrivedAt = performance.now();
    }
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
    // Do not count all of a body that is too long, because Node discards the rest of such a body. Only the chunk that exceeds
    // the allowed 64 KiB is in memory, too. Node reads at most another 64 KiB at a time, so counting stops at 128 KiB.
    if (this.bodyBytes <= MAX_BODY_BYTES * 2) {
      accountedConnections.get(this.socket)?.hold(this, CHUNK_OVERHEAD_BYTES + part.length);
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
      accountedConnections
        .get(socket)
        ?.hold(
          this.req as IncomingMessage as AccountedRequest,
          Buffer.byteLength(content) + content.length * STRING_FACTOR,
        );
    }
    return this;
  }
}
