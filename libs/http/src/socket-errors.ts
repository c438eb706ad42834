import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ApiError } from '#libs/errors';
import {
  BadRequestError,
  HeadersTooLargeError,
  MethodNotAllowedError,
  PayloadTooLargeError,
  RequestTimeoutError,
} from './errors';
import { MAX_BODY_BYTES } from './read-json';

/** What is to be written for a request that Node refused before it became one: the error, and its header fields. */
export type SocketAnswer = (
  error: ApiError,
  address: string,
) => Promise<{ error: ApiError; headers: Record<string, string> }>;

type ParserError = Error & { code?: string };

/** Which of our errors a refusal of Node's HTTP parser is. */
export function toApiError(error: ParserError): ApiError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HeadersTooLargeError();
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new PayloadTooLargeError(MAX_BODY_BYTES);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestTimeoutError();
    default:
      return new BadRequestError('The request is not valid HTTP.');
  }
}

interface SocketInUse extends Socket {
  /** Node's own field: the answer that is being written to this socket, if there is one. */
  _httpMessage?: { headersSent: boolean } | null;
}

/**
 * Answers what never becomes a request (malformed HTTP, oversized header fields, requests that do not arrive in time, CONNECT)
 * with the service's own error body and header fields, and closes the connection.
 */
export function answerOnSocket(describe: SocketAnswer) {
  return async (parserError: ParserError, socket: SocketInUse): Promise<void> => {
    // Bytes written into an answer that is under way would be read as part of it.
    if (parserError.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy();
      return;
    }
    const { error, headers } = await describe(toApiError(parserError), socket.remoteAddress ?? '');
    write(socket, error, headers);
  };
}

function write(socket: Socket, error: ApiError, headers: Record<string, string>): void {
  if (!socket.writable) {
    return;
  }
  const body = JSON.stringify(error.toBody());
  const fields = {
    Date: new Date().toUTCString(),
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    ...error.headers,
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const statusLine = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n`;
  // end() alone would wait for the peer to close its half as well.
  socket.end(`${statusLine}${lines.join('')}\r\n${body}`, () => socket.destroySoon());
}

/** Routes the events with which Node would answer by itself, without our body and header fields, to our own answers. */
export function takeOverNodeAnswers(fastify: FastifyInstance, describe: SocketAnswer): void {
  const { server } = fastify;
  // An unknown `Expect` may be ignored (RFC 9110, section 10.1.1); Node would answer an empty 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // A tunnel has no path, so there is no method that it would take instead.
    void describe(new MethodNotAllowedError(''), socket.remoteAddress ?? '').then(({ error, headers }) =>
      write(socket, error, headers),
    );
  });
  // Node would answer an empty 400 (`requireHostHeader`, which is off for this reason).
  fastify.addHook('onRequest', (request, _reply, done) => {
    const missing = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    done(missing ? new BadRequestError('An HTTP/1.1 request needs a Host header field.') : undefined);
  });
}
