import { RequestLimiter } from '../../../src/modules/quotas';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { call, freshMinute } from '../../support/limits';

const DEPRECATED = '/pets/1';
const COUNTED = '/pets?limit=1';

const service = useService();
beforeEach(() => freshMinute(service));
afterEach(() => jest.restoreAllMocks());

async function bannedCaller(): Promise<ApiClient> {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await call(caller, 12);
  return caller;
}

describe('Every request is counted once, when it arrives', () => {
  it.each([
    ['an operation', 'GET', COUNTED, undefined, 200],
    ['a refused body', 'POST', '/categories', '{', 400],
    ['an invalid content type', 'POST', '/categories', 'x', 415],
    ['an unknown path', 'GET', '/nowhere', undefined, 404],
    ['a wrong method', 'PATCH', '/categories', '{}', 405],
    ['an OPTIONS request that is not a preflight', 'OPTIONS', COUNTED, undefined, 405],
  ])('%s', async (_name, method, target, body, status) => {
    const take = jest.spyOn(service.app.get(RequestLimiter), 'take');
    const caller = await service.caller({ plan: 'free' });
    const type: Record<string, string> = status === 415 ? { 'Content-Type': 'a/b/c' } : {};
    const answer = await caller.with(type).send(method, target, body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('X-RateLimit-Remaining')).toBe('59');
    expect(take).toHaveBeenCalledTimes(1);
  });
});

describe('An address over its limit', () => {
  beforeEach(() => call(service.anonymous(), 60));

  it.each([
    ['GET', COUNTED],
    ['GET', DEPRECATED],
    ['HEAD', COUNTED],
    ['GET', '/rate-limit'],
    ['GET', '/nowhere'],
    ['PATCH', '/categories'],
  ])('gets 429 for %s %s', async (method, target) => {
    const answer = await service.anonymous().send<ErrorBody>(method, target);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('X-RateLimit-Remaining')).toBe('0');
    if (method !== 'HEAD') expect(answer.body.code).toBe('rate_limit_exceeded');
  });

  it.each([{ name: 'Cats' }, '{'])('gets 429 for any body: %j', async (body) => {
    expect((await service.anonymous().post('/categories', body)).status).toBe(429);
  });

  it('is told that the operation is deprecated', async () => {
    const { headers } = await service.anonymous().get(DEPRECATED);
    expect(headers.get('Deprecation')).not.toBeNull();
  });

  it.each(['/docs', '/openapi.json', '/openapi.yaml', '/health/live', '/health/ready'])(
    'gets %s, which is never counted',
    async (path) => {
      expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    },
  );

  it('does not keep a valid key from GET /rate-limit, banned or not', async () => {
    for (const caller of [await service.caller({ plan: 'free' }), await bannedCaller()]) {
      expect((await caller.get('/rate-limit')).status).toBe(200);
    }
  });
});

it('a banned key gets 403, and further requests do not extend the ban', async () => {
  const caller = await bannedCaller();
  const [first, second] = [await caller.get<ErrorBody>(COUNTED), await caller.get<ErrorBody>(COUNTED)];
  expect([first.status, second.status]).toEqual([403, 403]);
  expect(first.body.code).toBe('api_key_banned');
  expect(Number(second.headers.get('Retry-After'))).toBeLessThanOrEqual(
    Number(first.headers.get('Retry-After')),
  );
});

it('each refused request of a key over its limit is a strike', async () => {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await call(caller, 2);
  expect((await caller.get<ErrorBody>(COUNTED)).body.message).toContain(' 9 more refused requests');
});
