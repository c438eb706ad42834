import { once } from 'node:events';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { MAX_PIPELINED, isCrowded, newestResponse, startInTurn, trackResponses } from './connections';
import {
  type ApiError,
  BadRequestError,
  HeadersTooLargeError,
  MethodNotAllowedError,
  PayloadTooLargeError,
  RequestTimeoutError,
} from './errors';
import { MAX_BODY_BYTES, MAX_BODY_CHUNKS, loseBody } from './input.guard';
import { headDefect } from './request-head';
import { JSON_TYPE } from './single-resource';

/** The response to a request that Node refused while parsing: the error and its header fields. */
export type SocketResponse = (
  error: ApiError,
  address: string,
) => Promise<{ error: ApiError; headers: Record<string, string> }>;

type ParserError = Error & { code?: string };

/** Maps an error of Node's HTTP parser to one of ours. */
function refusalFor(error: ParserError): ApiError {
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

/**
 * How long a refused connection is still read: closing it with unread bytes could discard the response (RFC 9112,
 * section 9.6).
 */
const LINGER_MS = 1_000;

/** Connections that have been refused and are about to be closed. */
const refused = new WeakSet<Socket>();

/** The part of Node's HTTP parser (`_http_server.js`) that receives each request whose header is complete. */
interface Parser {
  onIncoming: () => number;
}

/**
 * Accepts no more requests on this connection, and closes it after the responses to earlier ones. Everything else is read
 * and dropped: queued requests would take memory, and unread bytes could discard the responses.
 */
function refuseFurtherRequests(socket: Socket): void {
  refused.add(socket);
  socket.destroySoon = () => endAndLinger(socket);
  // Replacing the listener keeps further bytes from Node's parser, except those that it is parsing now.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  const { parser } = socket as Socket & { parser?: Parser };
  if (parser) {
    // As for CONNECT: what follows this header is not HTTP.
    parser.onIncoming = () => 2;
  }
}

/**
 * Call it when a request is refused. Node parses the rest of its body, and each chunk costs time, however short it is: after
 * very many, the connection is closed.
 */
export function boundUnreadChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined || request.complete) {
    return;
  }
  let chunks = 0;
  request.on('data', () => {
    chunks += 1;
    if (chunks === MAX_BODY_CHUNKS) {
      refuseFurtherRequests(request.socket);
      request.socket.destroySoon();
    }
  });
}

function endAndLinger(socket: Socket): void {
  // end() alone would wait until the peer closes its half, too.
  const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(linger));
  socket.end();
}

/**
 * Answers input that never becomes a request (malformed HTTP, oversized header fields, requests that do not arrive in time, CONNECT)
 * with the service's own error body and header fields, and closes the connection.
 */
function respondOnSocket(describe: SocketResponse) {
  return async (parserError: ParserError, socket: Socket): Promise<void> => {
    // Browsers open connections that they may never use. Without a request nothing is answered or counted.
    const unused = parserError.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (unused || parserError.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (refused.has(socket)) {
      return;
    }
    refuseFurtherRequests(socket);
    const error = refusalFor(parserError);
    const newest = newestResponse(socket);
    if (newest && !newest.req.complete) {
      failInBody(newest, error, socket);
      return;
    }
    // Bytes written during another response would be read as part of it.
    if (newest && !newest.writableFinished && !newest.destroyed) {
      await once(newest, 'close');
    }
    const response = await describe(error, socket.remoteAddress ?? '');
    write(socket, response.error, response.headers);
  };
}

/** The application answers failures in a body, because it knows the caller, unless it has already responded. */
function failInBody(response: ServerResponse, error: ApiError, socket: Socket): void {
  if (response.writableFinished) {
    socket.destroySoon();
    return;
  }
  response.shouldKeepAlive = false;
  response.once('close', () => socket.destroySoon());
  loseBody(response.req, error);
}

function write(socket: Socket, error: ApiError, headers: Record<string, string>): void {
  if (!socket.writable) {
    return;
  }
  const body = JSON.stringify(error.toBody());
  const fields = {
    Date: new Date().toUTCString(),
    Connection: 'close',
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    ...error.headers,
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const statusLine = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n`;
  socket.write(`${statusLine}${lines.join('')}\r\n${body}`);
  endAndLinger(socket);
}

/** Replaces the responses that Node would send by itself, without our body and header fields. */
export function takeOverNodeResponses(fastify: FastifyInstance, describe: SocketResponse): void {
  const { server } = fastify;
  // A client may close its half after the last request and still wait for the response (RFC 9112, section 9.6).
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  // By default Node drops fields after the first thousand, for example a precondition or `X-Forwarded-For`.
  server.maxHeadersCount = 0;
  const respond = respondOnSocket(describe);
  server.removeAllListeners('clientError');
  server.on('clientError', (error, socket) => {
    respond(error, socket as Socket).catch(() => socket.destroy());
  });
  trackResponses(server);
  // Node caches the address when it is first read. After a reset it would be unknown.
  server.on('connection', (socket) => {
    if (socket.remoteAddress === undefined) {
      socket.destroy();
    }
  });
  // An unknown `Expect` may be ignored (RFC 9110, section 10.1.1); Node would respond with an empty 417.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // Node would invite every body. The service reads it only once its caller is admitted, and invites it then.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A refusal closes the connection, and the body may have been sent all the same.
    const { socket } = request;
    socket.destroySoon = () => endAndLinger(socket);
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has removed its own listener, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    // A tunnel has no path, so there are no allowed methods to name.
    describe(new MethodNotAllowedError(''), socket.remoteAddress ?? '')
      .then(({ error, headers }) => write(socket, error, headers))
      .catch(() => socket.destroy());
  });
  fastify.addHook('onRequest', rejectDefective);
}

/** Requests that arrived when too many others were waiting on their connection. */
const excess = new WeakSet<IncomingMessage>();

/** The requests of a connection start one after the other. Call it in the first hook of all. */
export function takeTurn(request: IncomingMessage, start: () => void): void {
  const { socket } = request;
  if (isCrowded(socket)) {
    refuseFurtherRequests(socket);
    excess.add(request);
  }
  startInTurn(socket, start);
}

/** Refuses requests in excess and requests with a defective head before any other work. */
const rejectDefective: onRequestHookHandler = ({ raw }, reply, done) => {
  if (excess.has(raw)) {
    reply.raw.shouldKeepAlive = false;
    done(
      new BadRequestError(`More than ${MAX_PIPELINED} requests wait on this connection for their responses.`),
    );
    return;
  }
  done(headDefect(raw));
};
