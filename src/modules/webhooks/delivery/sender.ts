import { once } from 'node:events';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Socket, isIP } from 'node:net';
import { finished } from 'node:stream/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { OUTGOING_SOCKETS } from '../../../settings/settings';
import { AddressPolicy } from './address-policy';
import { NoConnectionError, connectToFirst } from './connection';
import { type FindAddresses, allowedAddresses, errorWithCode, systemLookup } from './name-lookup';
import { type Attempt, errorOf } from './retry-schedule';

const TIMEOUT_MS = 15_000;
const SECONDS = TIMEOUT_MS / 1_000;
/** Maximum number of bytes that are read of a response, including interim responses, headers and trailers. */
const RESPONSE_BYTES = 16_384;
const MAX_INTERIM = 8;
const BODY_MS = 1_000;
/**
 * Maximum number of sockets for each concurrent delivery. While the sender connects, it tries up to four addresses of
 * the receiver at the same time. The fifth socket is an idle connection that stays open for a later delivery.
 */
export const SOCKETS_PER_DELIVERY = 5;
const MAX_IDLE = 1_000;
const CONNECTIONS = { keepAlive: true, timeout: 10_000, maxFreeSockets: 32 };

/** Error messages by error code. Codes such as ESILENT are defined by this service, the others by Node. */
const FAILURES: Readonly<Record<string, string>> = {
  EFORBIDDEN: 'The URL leads to an address that webhooks may not be sent to.',
  ENOTFOUND: 'The name in the URL has no address.',
  ELOOKUP: 'The name in the URL could not be looked up.',
  ESILENT: `There was no response within ${SECONDS} seconds.`,
  ESTATUS: 'The response had an invalid status.',
  EINTERIM: `More than ${MAX_INTERIM} interim responses (1xx) came before a response.`,
  ECONNRESET: 'The connection was closed before a response.',
  HPE_HEADER_OVERFLOW: 'The response had too many headers.',
};

interface Message {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Returns the headers of a delivery, as Standard Webhooks 1.0 defines. */
export function deliveryHeaders(eventId: string, at: Date, signature: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'petstore-webhooks/1.0',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signature,
  };
}

/**
 * Sends requests to URLs that clients have given. These URLs are not trusted, so the sender calls only allowed
 * addresses and limits the response.
 */
@Injectable()
export class Sender {
  responseTimeoutMs = TIMEOUT_MS;
  private readonly http = this.connecting(new HttpAgent(CONNECTIONS), 'http:');
  private readonly https = this.connecting(new HttpsAgent(CONNECTIONS), 'https:');
  private readonly closed = new AbortController();
  private readonly maxIdle: number;

  constructor(
    private readonly policy: AddressPolicy,
    @Optional() private readonly find: FindAddresses = systemLookup(),
    @Optional() @Inject(OUTGOING_SOCKETS) sockets = Infinity,
  ) {
    this.maxIdle = Math.min(MAX_IDLE, Math.ceil(sockets / SOCKETS_PER_DELIVERY));
  }

  /**
   * Sends a message and never rejects. If the receiver has closed a reused connection, sends the message once more on another
   * connection.
   */
  async send(message: Message, mayRetry = true): Promise<Attempt> {
    if (this.policy.problemWith(message.url) !== undefined) {
      return { status: null, error: FAILURES.EFORBIDDEN! };
    }
    let request: ClientRequest | undefined;
    try {
      request = this.open(message);
      return await attemptOf(request, message.body, this.responseTimeoutMs);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (mayRetry && request?.reusedSocket && code === 'ECONNRESET') {
        return this.send(message, false);
      }
      return { status: null, error: reasonOf(error as Error, request?.socket) };
    }
  }

  close(): void {
    this.closed.abort();
    this.http.destroy();
    this.https.destroy();
  }

  private open({ url, headers }: Message): ClientRequest {
    // Compare the parsed protocol, because the text of the URL may have `https` in upper case.
    return new URL(url).protocol === 'https:'
      ? httpsRequest(url, { method: 'POST', headers, agent: this.https })
      : httpRequest(url, { method: 'POST', headers, agent: this.http });
  }

  private connecting<Kind extends HttpAgent>(agent: Kind, protocol: string): Kind {
    const overTls = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      const opened = this.connect(options.host!, Number(options.port), protocol).then((socket) =>
        protocol === 'https:' ? overTls({ ...options, socket } as typeof options)! : socket,
      );
      opened.then((socket) => callback!(null, socket), callback as (error: Error) => void);
      return undefined;
    };
    const keepAlive = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => {
      const idle = [this.http, this.https].flatMap(({ freeSockets }) => Object.values(freeSockets).flat());
      return idle.length < this.maxIdle && keepAlive(socket);
    };
    return agent;
  }

  private async connect(host: string, port: number, protocol: string): Promise<Socket> {
    const deadline = new AbortController();
    const signal = AbortSignal.any([deadline.signal, this.closed.signal]);
    const timer = setTimeout(() => deadline.abort(), TIMEOUT_MS);
    try {
      const late = once(signal, 'abort').then(() => Promise.reject(errorWithCode('ELOOKUP')));
      const found = allowedAddresses(host, this.find, this.policy, protocol);
      // Show the address in the error if the URL itself contains the address, because the client then knows the address
      // anyway.
      const shown = (address: string) => (isIP(host) ? address : this.policy.shownAddress(address));
      return await connectToFirst(await Promise.race([found, late]), port, signal, shown);
    } finally {
      clearTimeout(timer);
    }
  }
}

function reasonOf(error: NodeJS.ErrnoException, socket: Socket | null | undefined): string {
  const { code = '', message } = error;
  if (error instanceof NoConnectionError) {
    return `The connection failed: ${message}`;
  }
  if ((socket as { secureConnecting?: boolean } | undefined)?.secureConnecting) {
    return `The TLS handshake failed (${code === 'ESILENT' ? `nothing within ${SECONDS} seconds` : code}).`;
  }
  return FAILURES[code] ?? `The response could not be read (${code}).`;
}

async function attemptOf(request: ClientRequest, body: string, timeoutMs: number): Promise<Attempt> {
  const fail = (code: string) => request.destroy(errorWithCode(code));
  // While the request has no socket, the connection is still being opened, for which `connect` has its own timeout.
  const deadline = setTimeout(() => request.socket && fail('ESILENT'), timeoutMs);
  const closed = once(request, 'close').then(() => Promise.reject(errorWithCode('ECONNRESET')));
  let response: IncomingMessage | undefined;
  request.once('response', (arrived) => (response = arrived));
  let interim = 0;
  request.on('information', () => (interim += 1) > MAX_INTERIM && fail('EINTERIM'));
  let bytes = 0;
  // Stop reading a response that is too large. If only its body is too large, `response` is set, and its status still
  // decides whether the delivery succeeded. If its headers are too large, the attempt fails.
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES) {
      void (response?.destroy() ?? fail('HPE_HEADER_OVERFLOW'));
    }
  };
  request.once('socket', (socket) => socket.on('data', count));
  try {
    await Promise.race([once(request.end(body), 'response'), closed]);
    const { statusCode: status = 0, headers } = response!;
    await drain(response!);
    if (status < 100 || status > 599) {
      throw errorWithCode('ESTATUS');
    }
    return { status, error: errorOf(status), retryAfter: headers['retry-after'] };
  } finally {
    clearTimeout(deadline);
    request.socket?.off('data', count);
  }
}

/** Reads the rest of a response, so that the connection can be reused. Closes the connection if this takes too long. */
async function drain(response: IncomingMessage): Promise<void> {
  const deadline = setTimeout(() => response.destroy(), BODY_MS);
  await finished(response.resume()).catch(() => undefined);
  clearTimeout(deadline);
}
