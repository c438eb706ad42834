import fc from 'fast-check';
import { useService } from '../../support/use-service';
import { FuzzClient } from './support/fuzz-client';
import type { FuzzRequest } from './support/fuzz-request';
import { requestsOf } from './support/request-values';

/** A run is repeated with FUZZ_SEED; FUZZ_REQUESTS makes it longer. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 4_000);
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
  const statuses = new Map<number, number>();
  let client: FuzzClient;

  beforeAll(async () => {
    client = await FuzzClient.of(service);
  });
  afterAll(() => client.close());

  async function send(request: FuzzRequest): Promise<void> {
    const answer = await client.send(request);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }

  it(
    'are answered as documented: valid ones accepted, invalid ones rejected, none with 5xx',
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
      // Once more when many rounds were short by chance.
      for (let seed = SEED; client.sent < REQUESTS; seed += 1) {
        await fc.assert(property, { seed, numRuns: ROUNDS });
      }
      // They have produced every documented kind of response, and leave the service healthy.
      expect([...statuses.keys()].sort((a, b) => a - b)).toEqual([
        200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429,
      ]);
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    },
    MOST_MS,
  );
});
