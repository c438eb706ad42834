import { MINUTE_MS } from '../../../../src/modules/quotas/rules/limits';
import type { TestService } from '../../../support/service';
import { type RawAnswer, RawConnection, exchange, requestText } from '../../../support/raw-http';

/** The key or address whose limits the request counts toward. */
export type CountedFor = 'key' | 'address' | 'nobody';

/** The limit, and what remains of it after the first request of a window. */
const LIMITS: Record<CountedFor, { limit: string; remaining: string }> = {
  key: { limit: '300', remaining: '299' },
  address: { limit: '60', remaining: '59' },
  nobody: { limit: '60', remaining: '60' },
};

/** Sends single requests as bytes. Before each one, it moves the clock by a minute, so that all limits begin anew. */
export class RawRequests {
  private key: Promise<{ key: string }> | undefined;

  constructor(private readonly service: TestService) {}

  /** Sends a request with a key of the plan pro. */
  async withKey(line: string, fields: string[] = [], body = '', method?: string): Promise<RawAnswer> {
    return exchange(this.service.port, requestText(line, [await this.keyField(), ...fields], body), method);
  }

  /** Sends a request without a key, from an address that has sent no request for a minute. */
  async withoutKey(line: string, fields: string[] = [], body = ''): Promise<RawAnswer> {
    return this.bytes(requestText(line, fields, body));
  }

  /** Sends any bytes, from an address that has sent no request for a minute. */
  async bytes(bytes: string | Buffer): Promise<RawAnswer> {
    this.forgetAddress();
    return exchange(this.service.port, bytes);
  }

  forgetAddress(): void {
    this.service.clock.advance(MINUTE_MS);
  }

  open(bytes?: string | Buffer): Promise<RawConnection> {
    return RawConnection.open(this.service.port, bytes);
  }

  /** The header field with a key of the plan pro that was not used for a minute. */
  async keyField(): Promise<string> {
    this.forgetAddress();
    const { key } = await (this.key ??= this.service.issueKey({ plan: 'pro' }));
    return `X-API-Key: ${key}`;
  }
}

/** Expects this error, with the body and the header fields that every error must have. */
export function expectError(answer: RawAnswer, status: number, code: string, countedFor: CountedFor): void {
  expect({ status: answer.status, body: JSON.parse(answer.text) as unknown }).toEqual({
    status,
    body: { code, message: expect.stringMatching(/^\S.*\.$/) as string, status },
  });
  expectOwedHeaders(answer, countedFor);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
}

export function expectOwedHeaders({ headers }: RawAnswer, countedFor: CountedFor): void {
  const { limit, remaining } = LIMITS[countedFor];
  expect(headers).toMatchObject({
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/) as string,
    'ratelimit-policy': expect.stringContaining(`"minute";q=${limit};w=60`) as string,
    ratelimit: expect.stringContaining(`"minute";r=${remaining};t=`) as string,
    'x-request-id': expect.stringMatching(/^[A-Za-z0-9._-]{1,128}$/) as string,
    'cache-control': 'private, no-cache',
  });
}
