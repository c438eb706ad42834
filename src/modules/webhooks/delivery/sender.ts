import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type AddressPolicy, type Resolve, checkedLookup, literalOf, resolveByDns } from './address-policy';
import type { Attempt } from './retry-schedule';

const TIMEOUT_MS = 15_000;
/** How much of a response body is read, and for how long, so that the connection can be reused. */
const BODY_BYTES = 16_384;
const BODY_MS = 1_000;
/** Maximum number of 1xx responses before the final one. */
const INTERIM_RESPONSES = 10;
/** Idle connections close after 10 seconds. With `autoSelectFamily`, a lookup is asked for all addresses. */
const CONNECTIONS = {
  keepAlive: true,
  timeout: 10_000,
  maxFreeSockets: 32,
  autoSelectFamily: true,
};

const FORBIDDEN = 'The URL leads to an address that webhooks may not be sent to.';
const TOO_MANY_INTERIM = 'There were too many interim responses (1xx).';
const SILENT = `There was no response within ${TIMEOUT_MS / 1_000} seconds.`;
/** Messages for codes of Node and c-ares. They reveal nothing about the internal network. */
const FAILURES: Readonly<Record<string, string>> = {
  EFORBIDDEN: FORBIDDEN,
  ENOTFOUND: 'The name in the URL has no address.',
  ENODATA: 'The name in the URL has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response.',
  HPE_HEADER_OVERFLOW: 'The response had too many headers.',
};

export interface Message {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Sends requests to untrusted URLs: only to allowed addresses, with bounded time and response size. */
export class Sender {
  private readonly agents: { 'http:': HttpAgent; 'https:': HttpsAgent };

  /** @param resolve replaces DNS in tests */
  constructor(
    private readonly policy: AddressPolicy,
    resolve: Resolve = resolveByDns(),
  ) {
    this.agents = {
      'http:': new HttpAgent({ ...CONNECTIONS, lookup: checkedLookup(resolve, policy, 'http:') }),
      'https:': new HttpsAgent({ ...CONNECTIONS, lookup: checkedLookup(resolve, policy, 'https:') }),
    };
  }

  /** Never rejects. Retries once, immediately, if an idle connection turns out to be closed. */
  async send(message: Message): Promise<Attempt> {
    if (this.policy.objection(message.url) !== undefined) {
      return { status: null, failure: FORBIDDEN };
    }
    const { attempt, wasClosedBefore } = await this.exchange(message);
    return wasClosedBefore ? (await this.exchange(message)).attempt : attempt;
  }

  /** Aborts requests in flight, and closes all connections. */
  close(): void {
    Object.values(this.agents).forEach((agent) => agent.destroy());
  }

  private exchange(message: Message): Promise<{ attempt: Attempt; wasClosedBefore: boolean }> {
    const { headers, body } = message;
    const url = new URL(message.url);
    const literal = literalOf(url);
    return new Promise((resolve) => {
      const protocol = url.protocol as 'http:' | 'https:';
      const request = (protocol === 'https:' ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        ...(literal === undefined ? {} : { host: literal }),
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
        agent: this.agents[protocol],
      });
      let attempt: Attempt | undefined;
      const giveUp = (failure: string): void => {
        attempt ??= { status: null, failure };
        request.destroy();
      };
      const deadline = setTimeout(() => giveUp(SILENT), TIMEOUT_MS);
      let interim = 0;
      const onInterim = (): void => {
        interim += 1;
        if (interim > INTERIM_RESPONSES) {
          giveUp(TOO_MANY_INTERIM);
        }
      };
      request.on('information', onInterim).on('continue', onInterim);
      const settle = (reason: Attempt, wasClosedBefore = false): void => {
        clearTimeout(deadline);
        resolve({ attempt: attempt ?? reason, wasClosedBefore });
      };
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isUnheard = attempt === undefined && request.reusedSocket && error.code === 'ECONNRESET';
        settle({ status: null, failure: describeFailure(error) }, isUnheard);
      });
      request.on('response', (response) => {
        attempt ??= attemptOf(response);
        drain(response, () => settle(attempt!));
      });
      request.on('close', () => settle({ status: null, failure: FAILURES.ECONNRESET! }));
      request.end(body);
    });
  }
}

function attemptOf({ statusCode, headers }: IncomingMessage): Attempt {
  const status = statusCode!;
  return status < 100 || status > 599
    ? { status: null, failure: 'The response had an invalid status.' }
    : { status, retryAfter: headers['retry-after'] };
}

/** Reads the rest of the response; closes the connection if it is too large or too slow. */
function drain(response: IncomingMessage, done: () => void): void {
  const deadline = setTimeout(() => response.destroy(), BODY_MS);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) {
      response.destroy();
    }
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    clearTimeout(deadline);
    done();
  });
}

function describeFailure({ code = '' }: NodeJS.ErrnoException): string {
  return (
    FAILURES[code] ??
    (/^[A-Z0-9_]{1,60}$/.test(code) ? `The connection failed (${code}).` : 'The connection failed.')
  );
}
