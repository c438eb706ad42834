import fc from 'fast-check';
import { newApiKey } from '../../../../src/modules/auth/api-key';
import { exchange, requestText } from '../../../support/raw-http';
import { useService } from '../../../support/use-service';
import { type FuzzRequest, type Sender, requestsOf } from './support/requests';

/** Of every documented kind of response. */
const STATUSES = [200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429];

/** A run is repeated with FUZZ_SEED; FUZZ_REQUESTS makes it longer. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
/** So many at the most are under way at the same time; half of it on average. */
const MOST_AT_ONCE = 40;
/** More than it takes on average. */
const ROUNDS = Math.ceil((REQUESTS / MOST_AT_ONCE) * 2.5);
/** Addresses without a valid key get along with some requests a minute; the fuzzer wants to see more than their refusals. */
const ROUND_MS = 20_000;
/** It only ends a hang. */
const MOST_MS = 600_000 + REQUESTS * 50;

describe(`${REQUESTS} valid and broken requests to every operation (FUZZ_SEED=${SEED})`, () => {
  const service = useService();
  const statuses: number[] = [];
  let credentials: Record<Sender, () => string[]>;

  beforeAll(async () => {
    const { key } = await service.issueKey();
    const { key: readOnly } = await service.issueKey({ scopes: ['read'] });
    const { key: limited } = await service.issueKey({ perMinute: 1, perDay: 1_000_000 });
    credentials = {
      owner: () => [`X-API-Key: ${key}`],
      reader: () => [`X-API-Key: ${readOnly}`],
      spender: () => [`X-API-Key: ${limited}`],
      nobody: () => [],
      mistyped: () => [`X-API-Key: ${key.slice(0, -1)}_`],
      unknown: () => [`Authorization: Bearer ${newApiKey()}`],
      'two keys': () => [`X-API-Key: ${key}`, `Authorization: Bearer ${newApiKey()}`],
    };
  });

  async function send(request: FuzzRequest): Promise<void> {
    const { as, method, target, body } = request;
    const fields = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    const head = requestText(`${method} ${target}`, [...fields, ...length, ...credentials[as]()]);
    const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')]);
    const { status, headers, text } = await exchange(service.port, bytes, method);
    statuses.push(status);
    const answer = {
      status,
      headers: new Headers(headers),
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    service.contract.check(method, target, answer);
    // Who has a limit is let in or not, as it stands.
    const isWelcome = ['owner', 'spender'].includes(as) || (as === 'reader' && /^(GET|HEAD)$/.test(method));
    if (status >= 500 || (status < 400 && !isWelcome)) {
      throw new Error(`${method} ${target} of ${as} → ${status}: ${text}`);
    }
  }

  it(
    'are answered as documented, none with 5xx, and none is let in without its key and scope',
    async () => {
      const round = fc.array(requestsOf(service.document), { maxLength: MOST_AT_ONCE, size: 'max' });
      const property = fc.asyncProperty(round, async (requests) => {
        service.clock.advance(ROUND_MS);
        const answered = await Promise.allSettled(requests.map(send));
        const failure = answered.find((result) => result.status === 'rejected');
        if (failure) {
          throw failure.reason as Error;
        }
      });
      // Once more when by chance many rounds were short, or a rare kind of response is missing.
      const isMissing = (status: number) => !statuses.includes(status);
      for (let seed = SEED; statuses.length < REQUESTS || STATUSES.some(isMissing); seed += 1) {
        await fc.assert(property, { seed, numRuns: ROUNDS });
      }
      // They have produced every documented kind of response and no other, and leave the service healthy.
      expect([...new Set(statuses)].sort((a, b) => a - b)).toEqual(STATUSES);
      expect((await service.anonymous().get('/health/ready')).status).toBe(200);
    },
    MOST_MS,
  );
});
