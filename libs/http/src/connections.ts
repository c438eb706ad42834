import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How many requests may wait on one connection for their responses (pipelining, RFC 9112, section 9.3.2). */
export const MAX_PIPELINED = 16;

/**
 * How many requests may wait so over all connections. Each holds its header fields, and a client that reads nothing can open
 * thousands of connections.
 */
const MAX_WAITING = 2_000;
let waitingRequests = 0;

/**
 * Responses that are not sent completely, in the order of their requests, which is also the order of sending. One list for
 * each connection, not one Set for all: when a Set grows, V8 links its old table to the new one. Once an old table has
 * reached the old generation, it keeps all later ones alive.
 */
const waiting = new WeakMap<Socket, ServerResponse[]>();

/** Tracks the responses of a server. */
export function trackResponses(server: Server): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    track(socket, response),
  );
}

function track(socket: Socket, response: ServerResponse): void {
  const responses = waiting.get(socket);
  if (responses === undefined) {
    waiting.set(socket, [response]);
    return;
  }
  while (responses.length > 0 && isSent(responses[0]!)) {
    responses.shift();
  }
  responses.push(response);
}

/** The response to the newest request of the connection, finished or not; undefined before the first request. */
export function newestResponse(socket: Socket): ServerResponse | undefined {
  return waiting.get(socket)?.at(-1);
}

/** The responses that are not finished, in the order of their requests. */
function openResponses(socket: Socket): ServerResponse[] {
  return (waiting.get(socket) ?? []).filter((response) => !isSent(response));
}

/** True if more than MAX_PIPELINED responses are pending, including the newest, or too many requests wait everywhere. */
export function isCrowded(socket: Socket): boolean {
  const pending = waiting.get(socket)?.length ?? 0;
  return pending > MAX_PIPELINED || (pending > 1 && waitingRequests >= MAX_WAITING);
}

/**
 * Starts a request that has just arrived once the response before it on its connection has been handed to the operating
 * system. Otherwise a client that reads nothing could make the service hold a response for each request. If the connection
 * ends before, the request never starts.
 */
export function startInTurn(socket: Socket, start: () => void): void {
  const [previous, own] = waiting.get(socket)?.slice(-2) ?? [];
  if (previous === undefined || own === undefined || previous.destroyed) {
    start();
    return;
  }
  // Without this, the request would run in the context of the one before it.
  const bound = AsyncResource.bind(start);
  waitingRequests += 1;
  previous.once('close', () => {
    waitingRequests -= 1;
    if (socket.writable) {
      bound();
    } else {
      // On a lost connection, Node closes only the response that was being sent; those behind it would wait forever.
      own.emit('close');
    }
  });
}

function isSent(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** What one client may leave unread in the memory of the service, over all its connections. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** Smaller bodies are not tracked: their connection itself takes as much memory. */
const MIN_TRACKED_BYTES = 16 * 1024;

/** The bodies that clients have not read yet. */
export class UnsentResponses {
  private readonly byClient = new Map<number | string, Map<ServerResponse, number>>();

  /**
   * Tracks a body until it is handed to the operating system. If its client leaves too much unread, the client's
   * connections with the oldest responses are closed.
   * @param client the id of a client, or the address of a sender without a valid key
   */
  hold(client: number | string, response: ServerResponse, body: string): void {
    // The response of a caller that has left is closed already.
    if (body.length < MIN_TRACKED_BYTES || response.destroyed) {
      return;
    }
    const held = this.byClient.get(client) ?? new Map<ServerResponse, number>();
    this.byClient.set(client, held.set(response, Buffer.byteLength(body)));
    response.once('close', () => {
      held.delete(response);
      if (held.size === 0 && this.byClient.get(client) === held) {
        this.byClient.delete(client);
      }
    });
    let bytes = [...held.values()].reduce((sum, size) => sum + size, 0);
    for (const [oldest, size] of held) {
      if (bytes <= MAX_UNSENT_BYTES) {
        return;
      }
      bytes -= size;
      oldest.req.socket.destroy();
    }
  }
}

/** After the server stops listening, a request that has begun to arrive has this long to become complete. */
const GRACE_MS = 1_000;

/** The connections of a server, so that it can stop without interrupting requests. */
export class Connections {
  private readonly sockets = new Set<Socket>();
  private ending = false;

  /** @param server must not listen yet: existing connections would not be tracked. Its responses are (`trackResponses`). */
  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Number of connections that are open. */
  get open(): number {
    return this.sockets.size;
  }

  /**
   * From now on every response closes its connection (`Connection: close`, RFC 9112, section 9.6), so that callers open
   * their next one with another instance, if there is one. New connections are still accepted.
   */
  announceEnd(): void {
    if (this.ending) {
      return;
    }
    this.ending = true;
    this.sockets.forEach((socket) => endWithLast(openResponses(socket)));
    this.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      endWithLast([...openResponses(socket), response]);
    });
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
    const timers = [
      setTimeout(() => this.sockets.forEach(closeWhenUnused), GRACE_MS),
      setTimeout(() => this.destroyAll(), patienceMs),
    ];
    await Promise.all([...this.sockets].map(closed));
    timers.forEach(clearTimeout);
  }

  /** Closes every connection immediately, even during a request. */
  destroyAll(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }
}

/** All pipelined requests are answered; the last response closes the connection. */
function endWithLast(responses: ServerResponse[]): void {
  responses.forEach((response, index) => (response.shouldKeepAlive = index < responses.length - 1));
}

/** A response whose header was written before the end was announced has kept its connection open. */
function closeWhenUnused(socket: Socket): void {
  const [next] = openResponses(socket);
  if (next === undefined) {
    socket.destroySoon();
  } else {
    next.once('close', () => closeWhenUnused(socket));
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/**
 * Parameter decorator: a signal that is aborted when the caller disconnects, for operations that may take long. A
 * caller that closes only half of the connection looks the same.
 */
export const ClientDisconnected = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AbortSignal => {
    const http = context.switchToHttp();
    const { socket } = http.getRequest<FastifyRequest>();
    const { raw } = http.getResponse<FastifyReply>();
    const controller = new AbortController();
    const leave = (): void => void socket.destroy();
    socket.once('end', leave);
    raw.once('close', () => {
      socket.off('end', leave);
      controller.abort();
    });
    // It may have left while its key was looked up.
    if (socket.readableEnded) {
      leave();
    }
    if (raw.destroyed) {
      controller.abort();
    }
    return controller.signal;
  },
);
