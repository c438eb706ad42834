import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { isCrowded, MAX_PIPELINED, newestResponse, startInTurn, trackResponses } from './connections';
import {
  type ApiError,
  BadRequestError,
  HeadersTooLargeError,
  MethodNotAllowedError,
  PayloadTooLargeError,
  RequestTimeoutError,
} from './errors';
import { loseBody, MAX_BODY_BYTES, MAX_BODY_CHUNKS } from './input.guard';
import { JSON_TYPE } from './single-resource';

/** Node's own limit ignores the colons and line ends, so 10,000 fields could take 40 KB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** The colon and the line end of a field. */
const FIELD_OVERHEAD = 3;
const MAX_PORT = 65_535;

/** Finds defects that Node accepts, or would answer with an empty 400 (which is why `requireHostHeader` is off). */
export function headDefect(request: IncomingMessage): ApiError | undefined {
  const { httpVersionMajor, httpVersionMinor, rawHeaders } = request;
  if (httpVersionMajor !== 1) {
    return new BadRequestError('The request must be HTTP/1.1.');
  }
  const hosts: string[] = [];
  let bytes = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    bytes += name.length + value.length + FIELD_OVERHEAD;
    if (name.length === 4 && name.toLowerCase() === 'host') {
      hosts.push(value);
    }
  }
  if (bytes > MAX_HEADER_BYTES) {
    return new HeadersTooLargeError();
  }
  if (hosts.length > 1 || (hosts.length === 0 && httpVersionMinor > 0)) {
    return new BadRequestError('An HTTP/1.1 request needs one Host header field.');
  }
  return hosts.every(isHost)
    ? undefined
    : new BadRequestError('Host must be a host name or an IP address, with or without a port.');
}

/** An optional host (RFC 3986, section 3.2.2) and an optional port. The only literals in brackets are IPv6 addresses. */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(\d*))?$/i;

/** Whether this may be the value of a Host field (RFC 9112, section 3.2). */
export function isHost(value: string): boolean {
  const [match, literal, port] = HOST.exec(value) ?? [];
  return match !== undefined && (literal === undefined || isIPv6(literal)) && Number(port ?? 0) <= MAX_PORT;
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` if it is 1 to 128 of `A-Za-z0-9._-`, otherwise a new random one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}

/**
 * Repairs targets that the router would mishandle. If the path is not valid percent-encoded UTF-8, its percent signs
 * are escaped, so that it fails inside the pipeline as an unknown path or a bad parameter, not in the router. An
 * asterisk gets a slash, because the router would treat it as the root.
 */
export function repairRequestTarget(target: string): string {
  if (target === '*') {
    return '/*';
  }
  if (!target.includes('%')) {
    return target;
  }
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return path.replaceAll('%', '%25') + target.slice(path.length);
  }
}

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
