import fc from 'fast-check';
import { useStore } from '../../../support/use-service';
import { type FuzzRequest, requestsOf } from './support/requests';

/** Of every documented kind of response to somebody who may send anything. */
const STATUSES = [200, 201, 204, 304, 400, 404, 409, 412, 422];

/** A run is repeated with FUZZ_SEED; FUZZ_REQUESTS makes it longer. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
/** So many at the most are under way at the same time; half of it on average. */
const MOST_AT_ONCE = 40;
/** More than it takes on average. */
const ROUNDS = Math.ceil((REQUESTS / MOST_AT_ONCE) * 2.5);
/** It only ends a hang. */
const MOST_MS = 600_000 + REQUESTS * 50;

describe(`${REQUESTS} requests with any values to every operation (FUZZ_SEED=${SEED})`, () => {
  const { service, caller } = useStore();
  const statuses: number[] = [];

  /** The caller holds each answer against the OpenAPI document. */
  async function send({ method, target, headers, body }: FuzzRequest): Promise<void> {
    const { status, text } = await caller.with(headers).send(method, target, body);
    statuses.push(status);
    if (status >= 500) throw new Error(`${method} ${target} → ${status}: ${text}`);
  }

  it(
    'are answered as documented, and none with 5xx',
    async () => {
      const round = fc.array(requestsOf(service.document), { maxLength: MOST_AT_ONCE, size: 'max' });
      const property = fc.asyncProperty(round, async (requests) => {
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
