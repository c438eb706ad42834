import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { newApiKey } from '../../../../src/modules/auth/api-key';
import type { Answer } from '../../../support/api-client';
import type { TestService } from '../../../support/service';
import type { FuzzRequest, Sender } from './fuzz-request';

type Credentials = Record<string, string>;

/** What a request with a key that opens everything is not answered when nothing is wrong with it. */
const COMPLAINTS = [400, 401, 403, 405, 408, 410, 413, 415, 429, 431];

/** Begins the one refusal of a value that depends on what there is. */
const TOO_MUCH = 'delta must not take the stock above';

/** An answer that takes longer will never come. */
const SILENCE_MS = 60_000;

/** Sends what the fuzzer makes up, as it is written, and holds every answer against the document and the request's verdict. */
export class FuzzClient {
  sent = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 24 });

  private constructor(
    private readonly service: TestService,
    private readonly credentials: Record<Sender, () => Credentials>,
  ) {}

  static async of(service: TestService): Promise<FuzzClient> {
    const { key } = await service.issueKey();
    const { key: readOnly } = await service.issueKey({ scopes: ['read'] });
    const { key: limited } = await service.issueKey({ perMinute: 1, perDay: 1_000_000 });
    return new FuzzClient(service, {
      owner: () => ({ 'X-API-Key': key }),
      'owner as bearer': () => ({ Authorization: `Bearer ${key}` }),
      reader: () => ({ 'X-API-Key': readOnly }),
      spender: () => ({ 'X-API-Key': limited }),
      nobody: () => ({}),
      mistyped: () => ({ 'X-API-Key': `${key.slice(0, -1)}_` }),
      unknown: () => ({ Authorization: `Bearer ${newApiKey()}` }),
      'two keys': () => ({ 'X-API-Key': key, Authorization: `Bearer ${newApiKey()}` }),
    });
  }

  /** @throws Error that says what is wrong with the answer */
  async send(request: FuzzRequest): Promise<Answer<unknown>> {
    this.sent += 1;
    const answer = await this.exchange(request);
    this.service.contract.check(request.method, request.target, answer);
    const complaint = this.complaintOf(request, answer);
    if (complaint !== null) {
      throw new Error(`${request.method} ${request.target} → ${answer.status}: ${complaint}: ${answer.text}`);
    }
    return answer;
  }

  close(): void {
    this.agent.destroy();
  }

  private complaintOf(
    { as, method, verdict }: FuzzRequest,
    { status, text }: Answer<unknown>,
  ): string | null {
    const reads = method === 'GET' || method === 'HEAD';
    const isOwner = as === 'owner' || as === 'owner as bearer';
    const isWelcome = isOwner || (as === 'reader' && reads);
    if (status >= 500) {
      return 'the service has failed';
    }
    // Who has a limit is let in or not, as it stands.
    if (status < 400 && (verdict === 'bad' || (!isWelcome && as !== 'spender'))) {
      return 'it should have been refused';
    }
    if (isWelcome && verdict === 'good' && COMPLAINTS.includes(status) && !text.includes(TOO_MUCH)) {
      return 'nothing is wrong with the request';
    }
    return null;
  }

  private exchange({ as, method, target, headers, body }: FuzzRequest): Promise<Answer<unknown>> {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const length = bytes === undefined ? {} : { 'Content-Length': bytes.length };
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        port: this.service.port,
        host: '127.0.0.1',
        agent: this.agent,
        method,
        path: target,
        headers: { ...headers, ...length, ...this.credentials[as]() },
        timeout: SILENCE_MS,
      });
      request.once('timeout', () => request.destroy(new Error('no answer came')));
      request.once('error', (error) => reject(new Error(`${method} ${target}: ${error.message}`)));
      request.once('response', (response) => void read(response).then(resolve, reject));
      request.end(bytes);
    });
  }
}

async function read(response: IncomingMessage): Promise<Answer<unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
  }
  const text = Buffer.concat(chunks).toString();
  const headers = new Headers();
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    headers.append(response.rawHeaders[index]!, response.rawHeaders[index + 1]!);
  }
  const body = (text === '' ? undefined : JSON.parse(text)) as unknown;
  return { status: response.statusCode!, headers, body, text };
}
