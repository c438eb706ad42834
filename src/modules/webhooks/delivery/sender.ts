import { once } from 'node:events';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Injectable, Optional } from '@nestjs/common';
import { AddressPolicy } from './address-policy';
import { type FindAddresses, checkedLookup, systemLookup, errorWithCode } from './name-lookup';
import { type Attempt, errorOf } from './retry-schedule';

const TIMEOUT_MS = 15_000;
/** How much of a response body is read, and for how long. */
const BODY_BYTES = 16_384;
const BODY_MS = 1_000;
/** Idle connections close after 10 seconds. With `autoSelectFamily`, a lookup is asked for all addresses. */
const CONNECTIONS = { keepAlive: true, timeout: 10_000, maxFreeSockets: 32, autoSelectFamily: true };

/** By the codes of Node and of this folder. They reveal nothing about the internal network. */
const FAILURES: Readonly<Record<string, string>> = {
  EFORBIDDEN: 'The URL leads to an address that webhooks may not be sent to.',
  ENOTFOUND: 'The name in the URL has no address.',
  ELOOKUP: 'The name in the URL could not be looked up.',
  ESILENT: `There was no response within ${TIMEOUT_MS / 1_000} seconds.`,
  ESTATUS: 'The response had an invalid status.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response.',
  HPE_HEADER_OVERFLOW: 'The response had too many headers.',
};

interface Message {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Sends requests to untrusted URLs: only to allowed addresses, with bounded time and response size. */
@Injectable()
export class Sender {
  private readonly http: HttpAgent;
  private readonly https: HttpsAgent;

  /** @param find replaces the machine's lookup in tests */
  constructor(
    private readonly policy: AddressPolicy,
    @Optional() find: FindAddresses = systemLookup(),
  ) {
    this.http = new HttpAgent({ ...CONNECTIONS, lookup: checkedLookup(find, policy, 'http:') });
    this.https = new HttpsAgent({ ...CONNECTIONS, lookup: checkedLookup(find, policy, 'https:') });
  }

  /** Never rejects. Retries once, immediately, if an idle connection turns out to be closed. */
  async send(message: Message, mayRetry = true): Promise<Attempt> {
    if (this.policy.objection(message.url) !== undefined) {
      return { status: null, error: FAILURES.EFORBIDDEN! };
    }
    let request: ClientRequest | undefined;
    try {
      request = this.open(message);
      return await attemptOf(request, message.body);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (mayRetry && request?.reusedSocket && code === 'ECONNRESET') {
        return this.send(message, false);
      }
      const reason = code === '' ? '' : ` (${code})`;
      return { status: null, error: FAILURES[code] ?? `The connection failed${reason}.` };
    }
  }

  /** Aborts requests in flight, and closes all connections. */
  close(): void {
    this.http.destroy();
    this.https.destroy();
  }

  private open({ url, headers }: Message): ClientRequest {
    return url.startsWith('https:')
      ? httpsRequest(url, { method: 'POST', headers, agent: this.https })
      : httpRequest(url, { method: 'POST', headers, agent: this.http });
  }
}

/** Rejects with an error that has a code. */
async function attemptOf(request: ClientRequest, body: string): Promise<Attempt> {
  const deadline = setTimeout(() => request.destroy(errorWithCode('ESILENT')), TIMEOUT_MS);
  const closed = once(request, 'close').then(() => Promise.reject(errorWithCode('ECONNRESET')));
  try {
    const answered = once(request.end(body), 'response') as Promise<[IncomingMessage]>;
    const [response] = await Promise.race([answered, closed]);
    const { statusCode: status = 0, headers } = response;
    await drain(response);
    if (status < 100 || status > 599) {
      throw errorWithCode('ESTATUS');
    }
    return { status, error: errorOf(status), retryAfter: headers['retry-after'] };
  } finally {
    clearTimeout(deadline);
  }
}

/** Reads the rest, so that the connection can be reused; closes it if the rest is too large or too slow. */
async function drain(response: IncomingMessage): Promise<void> {
  const deadline = setTimeout(() => response.destroy(), BODY_MS);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) {
      response.destroy();
    }
  });
  // The status counts, even if the rest has not arrived.
  await once(response, 'close').catch(() => undefined);
  clearTimeout(deadline);
}
