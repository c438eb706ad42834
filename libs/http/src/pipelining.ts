import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may wait on one connection for their responses (pipelining, RFC 9112, section 9.3.2). */
export const MAX_PIPELINED = 16;

/**
 * Responses that are not sent completely, in the order of their requests, which is also the order of sending. One list for
 * each connection, not one Set for all: when a Set grows, V8 links its old table to the new one. Once an old table has
 * reached the old generation, it keeps all later ones alive.
 */
const waiting = new WeakMap<Socket, ServerResponse[]>();
const watched = new WeakSet<Server>();

/** Tracks the responses of a server. Further calls for the same server do nothing. */
export function trackResponses(server: Server): void {
  if (!watched.has(server)) {
    watched.add(server);
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      track(request.socket, response);
    });
  }
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
export function openResponses(socket: Socket): ServerResponse[] {
  return (waiting.get(socket) ?? []).filter((response) => !isSent(response));
}

/** True if more than MAX_PIPELINED responses are pending, including the newest. */
export function isCrowded(socket: Socket): boolean {
  return (waiting.get(socket)?.length ?? 0) > MAX_PIPELINED;
}

/**
 * Starts a request that has just arrived once the response before it on its connection has been handed to the operating
 * system. Otherwise a client that reads nothing could make the service hold a response for each request. If the connection
 * ends before, the request never starts.
 */
export function startInTurn(socket: Socket, start: () => void): void {
  const previous = waiting.get(socket)?.at(-2);
  if (previous === undefined || previous.destroyed) {
    start();
    return;
  }
  // Without this, the request would run in the context of the one before it.
  const bound = AsyncResource.bind(start);
  previous.once('close', () => {
    if (socket.writable) {
      bound();
    }
  });
}

function isSent(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}
