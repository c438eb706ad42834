import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How many requests may wait on one connection for their answers (pipelining, RFC 9112, section 9.3.2). Node makes all of
 * them at once, and keeps the answers until they are read.
 */
export const MAX_PIPELINED = 16;

/**
 * Answers that are not sent completely, in the order of their requests, which is the order in which they are sent. With
 * their connections, and not in one Set for all: each time a Set grows, V8 has its old table refer to the new one and
 * keep what was in it. Once one of them has survived for long, all that come after it survive with it.
 */
const waiting = new WeakMap<Socket, ServerResponse[]>();
const watched = new WeakSet<Server>();

/** Takes note of the answers that a server is to send; once, however often it is called. */
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

/** The answer to the newest request of the connection, which is made or was made; undefined before the first. */
export function newestAnswer(socket: Socket): ServerResponse | undefined {
  return waiting.get(socket)?.at(-1);
}

/** The answers that are still to be made or sent, in the order of their requests. */
export function openAnswers(socket: Socket): ServerResponse[] {
  return (waiting.get(socket) ?? []).filter((answer) => !isOver(answer));
}

/** True when more than MAX_PIPELINED answers wait, the newest among them. */
export function isCrowded(socket: Socket): boolean {
  return (waiting.get(socket)?.length ?? 0) > MAX_PIPELINED;
}

function isOver(answer: ServerResponse): boolean {
  return answer.writableFinished || answer.destroyed;
}
