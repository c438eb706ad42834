import { PlanThrottlerGuard, RequestLimiter } from '../../../src/modules/quotas';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { call, freshMinute } from '../../support/limits';

// Whether a refusal is an early one cannot be seen from outside, and must not: it is told by what the guards were asked.

const DEPRECATED = '/pets/1';
const COUNTED = '/pets?limit=1';
const OPERATION = '/categories?limit=1';

const service = useService();
beforeEach(() => freshMinute(service));
afterEach(() => jest.restoreAllMocks());

/** Everything of an answer but what is each one's own. */
function essenceOf({ status, headers, text }: Awaited<ReturnType<ApiClient['get']>>) {
  const fields = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return { status, fields, text };
}

/** The guards' answer to a request, then the one to its repetition, and whether that came without asking them. */
async function refusedTwice(caller: ApiClient, target: string) {
  const take = jest.spyOn(service.app.get(RequestLimiter), 'take');
  jest.spyOn(service.app.get(PlanThrottlerGuard), 'counts').mockReturnValueOnce(false);
  const first = await caller.get<ErrorBody>(target);
  expect(take).toHaveBeenCalledTimes(1);
  const second = await caller.get<ErrorBody>(target);
  return { first, second, isEarly: take.mock.calls.length === 1 };
}

async function bannedCaller(): Promise<ApiClient> {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await call(caller, 12);
  return caller;
}

it.each([COUNTED, DEPRECATED])(
  'an address over its limit is refused early for %s as by the guards',
  async (target) => {
    await call(service.anonymous(), 60);
    const { first, second, isEarly } = await refusedTwice(service.anonymous(), target);
    expect(isEarly).toBe(true);
    expect(essenceOf(second)).toEqual(essenceOf(first));
    expect(second.body.code).toBe('rate_limit_exceeded');
  },
);

it('a banned key is refused early, as by the guards', async () => {
  const caller = await bannedCaller();
  const { first, second, isEarly } = await refusedTwice(caller, OPERATION);
  expect(isEarly).toBe(true);
  expect(essenceOf(second)).toEqual(essenceOf(first));
  expect(second.body.code).toBe('api_key_banned');
});

it('a key over its limit is never refused early: each of its refusals is a strike', async () => {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await caller.get(COUNTED);
  const { isEarly, second } = await refusedTwice(caller, COUNTED);
  expect(isEarly).toBe(false);
  expect(second.body.message).toContain(' 9 more refused requests');
});

it('what is never counted is answered to an address over its limit', async () => {
  await call(service.anonymous(), 61);
  for (const path of ['/docs', '/openapi.json', '/health/live', '/health/ready']) {
    expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  }
});

it('GET /rate-limit is refused early to an address over its limit, and answered to every valid key behind it', async () => {
  const callers = [await service.caller({ plan: 'free' }), await bannedCaller()];
  await call(service.anonymous(), 60);
  const { first, second, isEarly } = await refusedTwice(service.anonymous(), '/rate-limit');
  expect(isEarly).toBe(true);
  expect(essenceOf(second)).toEqual(essenceOf(first));
  for (const caller of callers) {
    expect((await caller.get('/rate-limit')).status).toBe(200);
  }
});

it('HEAD, a body, and a body that is none are refused as well', async () => {
  await call(service.anonymous(), 61);
  const caller = service.anonymous();
  for (const _time of ['by the guards', 'early']) {
    expect((await caller.send('HEAD', COUNTED)).status).toBe(429);
    expect((await caller.post('/categories', { name: 'Cats' })).status).toBe(429);
    expect((await caller.post('/categories', '{')).status).toBe(429);
  }
});

it('a request that fails between its arrival and the guards is counted all the same', async () => {
  const caller = await service.caller({ plan: 'free' });
  await caller.post('/categories', { name: 'Cats' });
  const broken = await caller.with({ 'Content-Type': 'a/b/c' }).post<ErrorBody>('/categories', 'x');
  expect(broken.status).toBe(415);
  expect(broken.headers.get('X-RateLimit-Remaining')).toBe('58');
});
