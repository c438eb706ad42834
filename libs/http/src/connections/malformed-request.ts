// This file answers bytes that cannot be parsed as a request. It closes a connection in two steps: first the sending side,
// and a moment later the rest. If the connection were closed at once, the last response could be lost on its way.
import { once } from 'node:events';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Connection } from './connection';
import { ApiError, BadRequestError, HeadersTooLargeError, RequestTimeoutError } from '../errors';
import { JSON_TYPE } from '../json-body';

/**
 * Milliseconds for which the server still reads from a connection after the last response. If the server closed the
 * connection at once, the response could be lost (RFC 9112, section 9.6).
 */
const LINGER_MS = 1_000;

export type ParserError = Error & { code?: string };

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Answers bytes that cannot be parsed as a request, or a request beyond the maximum number of requests that may wait on the
 * connection. The answer follows the responses to the requests that arrived before. Then closes the connection.
 * @param headersOf returns the headers of the response
 */
export async function answerMalformed(
  connection: Connection,
  failure: ParserError | ApiError,
  headersOf: () => Promise<Record<string, string>>,
): Promise<void> {
  const { socket, newest, waiting } = connection;
  const isTimedOut = failure.code === TIMED_OUT;
  if (isTimedOut && waiting.length > 0) {
    // Ignore the timeout of a request that waits for earlier responses. The request is late because the service has not
    // sent these responses yet, and not because of the caller.
    return;
  }
  if (isTimedOut && !connection.isMessageArriving) {
    // No request has begun to arrive. Close the connection without a response, because the caller would take this
    // response for the response to its next request.
    socket.destroy();
    return;
  }
  // After a CONNECT request, Node stops handling the socket. So ignore errors of the socket, and discard the bytes
  // that arrive.
  socket.on('error', () => undefined).resume();
  const error = failure instanceof ApiError ? failure : errorOf(failure);
  if (newest?.complete === false) {
    // The failure is in the body of the newest request. Make reading the body fail, so that the handler of the request
    // answers with the error.
    connection.brokenBy = error;
    if (waiting.length === 0) {
      failBody(newest, error);
    }
    return;
  }
  while (connection.newest !== undefined) {
    await once(connection.response!, 'close');
  }
  const headers = await headersOf();
  if (socket.writable) {
    endSoon(socket, messageOf(error, headers));
  }
}

/**
 * Emits `error` on a request, so that reading its body fails. The event is emitted a moment later, because the body
 * parser of a new request may not listen yet.
 */
export function failBody(request: IncomingMessage, error: ApiError): void {
  setImmediate(() => {
    if (!request.socket.destroyed && request.listenerCount('error') > 0) {
      request.emit('error', error);
    }
  });
}

/** If the body of the request is still arriving, makes the response close the connection. */
export function closeIfUnread({ raw: response }: FastifyReply): void {
  const { complete, socket } = response.req;
  if (!complete) {
    response.shouldKeepAlive = false;
    // Node calls `destroySoon` after the response. Node's own `destroySoon` would close the connection at once, so that
    // the caller could lose the response.
    socket.destroySoon = () => endSoon(socket);
  }
}

function endSoon(socket: Socket, lastMessage = ''): void {
  socket.end(lastMessage);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function errorOf({ code }: ParserError): ApiError {
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
