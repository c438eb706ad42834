import fc from 'fast-check';
import type { ApiClient } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { COUNTED, limitsIn } from '../../support/limits';

const service = useService();

type Step = { wait: number } | { until: 'reset' | 'retry-after' };

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ wait: fc.integer({ min: 0, max: 5_000 }) }),
  fc.record({ wait: fc.constantFrom(0, 0, 0, 1, 999, 59_999, 60_000, 3_600_000) }),
  fc.record({ until: fc.constantFrom('reset' as const, 'retry-after' as const) }),
);

/** Answered 304 to a client that sends `If-None-Match: *`. */
const UNCHANGED = '/categories/1';

/** A request that a client sends in turn: one that succeeds, one that fails, one that is not there, one that is refunded. */
const aPath = fc.constantFrom(COUNTED, '/pets/x', '/no/such/path', COUNTED, UNCHANGED, UNCHANGED);

beforeAll(async () => {
  await (await service.caller()).post('/categories', { name: 'Cats' });
});

async function live(caller: ApiClient, life: [Step, string][]): Promise<void> {
  let last: ReturnType<typeof limitsIn> | undefined;
  for (const [step, path] of life) {
    const before = service.clock.now();
    let waited = false;
    if ('wait' in step) {
      service.clock.advance(step.wait);
    } else if (last) {
      const target = step.until === 'reset' ? last.reset * 1_000 : before + (last.retryAfter ?? 0) * 1_000;
      waited = step.until === 'reset' || last.retryAfter !== null;
      service.clock.set(Math.max(before, target));
    }
    const answer = await caller.get(path);
    const told = limitsIn(answer);
    if (answer.status === 429) {
      // Never refused with requests left, nor by a window whose end was told and has come.
      expect(last?.remaining ?? 0).toBe(0);
      expect(waited && told.limit === last?.limit).toBe(false);
      expect(told.retryAfter).toBeGreaterThanOrEqual(1);
      expect(Math.abs(told.reset - service.clock.now() / 1_000 - told.retryAfter!)).toBeLessThan(1);
      expect(told.remaining).toBe(0);
    }
    expect(answer.status).not.toBe(500);
    expect(told.reset * 1_000).toBeGreaterThan(service.clock.now());
    last = answer.status === 403 ? undefined : told;
  }
}

it('a sequential client is never refused while requests remain', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 86_399_999 }),
      fc.array(fc.tuple(aStep, aPath), { minLength: 20, maxLength: 40 }),
      async (perMinute, more, timeOfDay, life) => {
        // Windows of different limits can be told apart by the limit that an answer tells.
        const perDay = perMinute + more;
        service.clock.set(Math.ceil(service.clock.now() / 86_400_000) * 86_400_000 + timeOfDay);
        await live((await service.caller({ perMinute, perDay })).with({ 'If-None-Match': '*' }), life);
      },
    ),
    { numRuns: 25 },
  );
});

it('a client that waits whenever no requests remain is never refused', async () => {
  const caller = await service.caller({ perMinute: 3, perDay: 10 });
  for (let request = 0; request < 100; request += 1) {
    const answer = await caller.get(COUNTED);
    expect(answer.status).toBe(200);
    const { remaining, reset } = limitsIn(answer);
    if (remaining === 0) service.clock.set(reset * 1_000);
    else service.clock.advance(1_234);
  }
});
