import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How many requests may wait on one connection for their responses (pipelining, RFC 9112, section 9.3.2). Node handles all
 * of them at once and keeps the responses in memory until they are read.
 */
export const MAX_PIPELINED = 16;

/**
 * Responses that are not sent completely, in the order of their requests, which is also the order of sending. One list for
 * each connection, not one Set for all: when a Set grows, V8 links its old table to the new one. Once an old table has
 * reached the old generation, it keeps all later ones alive.
 */
const waiting = new WeakMap<Socket, ServerResponse[]>();
const watched = new WeakSet<Server>();

/** Tracks the responses of a server. Further calls for the same server do nothing. */
export function noteAnswers(server: Server): void {
  if (!watched.has(server)) {
    watched.add(server);
    server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
      noteAnswer(request.socket, answer);
    });
  }
}

function noteAnswer(socket: Socket, answer: ServerResponse): void {
  const answers = waiting.get(socket);
  if (answers === undefined) {
    waiting.set(socket, [answer]);
    return;
  }
  while (answers.length > 0 && isOver(answers[0]!)) {
    answers.shift();
  }
  answers.push(answer);
}

/** The response to the newest request of the connection, finished or not; undefined before the first request. */
export function newestAnswer(socket: Socket): ServerResponse | undefined {
  return waiting.get(socket)?.at(-1);
}

/** The responses that are not finished, in the order of their requests. */
export function openAnswers(socket: Socket): ServerResponse[] {
  return (waiting.get(socket) ?? []).filter((answer) => !isOver(answer));
}

/** True if more than MAX_PIPELINED responses are pending, including the newest. */
export function isCrowded(socket: Socket): boolean {
  return (waiting.get(socket)?.length ?? 0) > MAX_PIPELINED;
}

function isOver(answer: ServerResponse): boolean {
  return answer.writableFinished || answer.destroyed;
}
