import { Arrange } from '../../../support/builders';
import type { Answer, ApiCaller, ErrorBody } from '../../../support/api-caller';
import { useService } from '../../../support/use-service';
import { COUNTED, MINUTE, call, limitsIn, standing, statuses, without } from '../../../support/limits';
import { newApiKey } from '../../../../src/modules/auth/api-key';

const service = useService();
const proxied = useService({ settings: { trustProxy: ['127.0.0.1', '10.0.0.0/8'] } });
let petId: number;
let etag: string;

beforeAll(async () => {
  const arranging = await service.caller();
  petId = (await new Arrange(arranging).pet()).id;
  etag = (await arranging.get(`/pets/${petId}`)).headers.get('etag')!;
});
beforeEach(() => [service, proxied].forEach(({ clock }) => clock.advance(2 * MINUTE)));

/** How many requests these cost the caller, in both windows. */
async function costOf(caller: ApiCaller, requests: () => Promise<unknown>): Promise<[number, number]> {
  const before = await standing(caller);
  await requests();
  const after = await standing(caller);
  return [before.minute.remaining - after.minute.remaining, before.day.remaining - after.day.remaining];
}

describe('a request with a valid key is counted', () => {
  it.each([
    ['200', 200, 'GET', '/pets', undefined],
    ['201', 201, 'POST', '/categories', { name: 'Cats' }],
    ['400 of a bad value', 400, 'GET', '/pets/x', undefined],
    ['404 of a path', 404, 'GET', '/no/such/path', undefined],
    ['405 of a path that is itself free with a key', 405, 'POST', '/rate-limit', {}],
    ['422', 422, 'POST', '/pets', { name: 'Rex', categoryId: 4711 }],
  ])('when it is answered %s', async (_what, status, method, path, body) => {
    const caller = await service.caller({ plan: 'free' });
    let answer: Answer<never> | undefined;
    const cost = await costOf(caller, async () => (answer = await caller.send(method, path, body)));
    expect([answer!.status, ...cost]).toEqual([status, 1, 1]);
    expect(limitsIn(answer!)).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('when it is answered 403 for a missing scope', async () => {
    const caller = await service.caller({ plan: 'free', scopes: ['read'] });
    expect(await costOf(caller, () => caller.post('/categories', { name: 'Cats' }))).toEqual([1, 1]);
  });
});

describe('a request is refunded, and the headers of the response show it', () => {
  it('when it is answered 304', async () => {
    const caller = await service.caller({ plan: 'free' });
    await caller.get(COUNTED);
    const fresh = caller.with({ 'If-None-Match': etag });
    let answer: Answer<never> | undefined;
    const cost = await costOf(caller, async () => (answer = await fresh.get(`/pets/${petId}`)));
    expect([answer!.status, ...cost]).toEqual([304, 0, 0]);
    expect(limitsIn(answer!)).toMatchObject({ remaining: 59 });
    expect(limitsIn(answer!).state).toMatch(/^"minute";r=59;t=60, "day";r=999;/);
  });

  it('when it is answered 5xx', async () => {
    const caller = await service.caller({ plan: 'free' });
    await caller.get(COUNTED);
    const failed = await without(service, 'categories', () => caller.get<ErrorBody>(COUNTED));
    expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
    expect(limitsIn(failed)).toMatchObject({ limit: 60, remaining: 59 });
    expect((await standing(caller)).day.remaining).toBe(999);
  });
});

describe('never counted, with or without a key:', () => {
  it.each(['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml', '/docs'])(
    '%s',
    async (path) => {
      const caller = await service.caller({ plan: 'free' });
      expect(await costOf(caller, () => caller.get(path))).toEqual([0, 0]);
      await service.anonymous().get(path);
      expect((await fetch(service.url + path, { method: 'POST' })).status).toBe(405);
      const stranger = await service.anonymous().get('/pets');
      expect([stranger.status, limitsIn(stranger).remaining]).toEqual([401, 59]);
    },
  );
});

const STRANGERS: [string, Record<string, string>, string, string, number][] = [
  ['a mistyped key', { 'X-API-Key': 'psk_live_x' }, 'GET', COUNTED, 401],
  ['two keys', { 'X-API-Key': newApiKey(), Authorization: `Bearer ${newApiKey()}` }, 'GET', COUNTED, 400],
  ['an unknown key for GET /rate-limit', { 'X-API-Key': newApiKey() }, 'GET', '/rate-limit', 401],
  ['an unknown path', {}, 'GET', '/no/such/path', 404],
  [
    'forwarding headers of nobody who is trusted',
    { 'X-Forwarded-For': '1.2.3.4', Forwarded: 'for=1.2.3.4', 'X-Real-IP': '1.2.3.4' },
    'GET',
    COUNTED,
    401,
  ],
];

describe('an address without a valid key', () => {
  it('has 60 requests a minute with the same headers, is then refused with Retry-After, served again after that, and never banned', async () => {
    const caller = service.anonymous();
    const answers = await call(caller, 60);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
      Array.from({ length: 60 }, (_, index) => [401, 59 - index]),
    );
    const limits = { policy: '"minute";q=60;w=60', state: '"minute";r=59;t=60' };
    expect(limitsIn(answers[0]!)).toMatchObject({ limit: 60, ...limits });
    service.clock.advance(19_500);
    const refused = await call<ErrorBody>(caller, 40);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['rate_limit_exceeded']));
    expect(limitsIn(refused[0]!)).toMatchObject({ limit: 60, remaining: 0, retryAfter: 41 });
    expect(refused[0]!.body.message).not.toMatch(/ban/);
    service.clock.advance(40_500);
    expect(await statuses(caller, 1)).toEqual([401]);
  });

  it.each(STRANGERS)('is counted with %s', async (_what, headers, method, path, status) => {
    const first = await service.anonymous().with(headers).send(method, path);
    expect([first.status, limitsIn(first).remaining]).toEqual([status, 59]);
    expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(58);
  });

  it('shares nothing with the valid keys behind it', async () => {
    const caller = await service.caller({ perMinute: 1, perDay: 100 });
    await call(service.anonymous(), 60);
    expect(await statuses(caller, 2)).toEqual([200, 429]);
    service.clock.advance(2 * MINUTE);
    expect(await statuses(caller, 2)).toEqual([200, 429]);
    expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(59);
  });
});

function from(chain: string) {
  return proxied.anonymous().with({ 'X-Forwarded-For': chain });
}

async function remaining(chain: string): Promise<number> {
  return limitsIn(await from(chain).get(COUNTED)).remaining;
}

describe('behind a trusted proxy', () => {
  it.each([
    ['a forged chain counts as what the proxy saw', '1.1.1.1, 192.0.2.3', '9.9.9.9, 192.0.2.3'],
    ['trusted proxies count as the address before them', '192.0.2.4', '6.6.6.6, 192.0.2.4, 10.1.2.3'],
    ['ports are no part of an address', '192.0.2.6:50001, 10.1.2.3:8443', '192.0.2.6, [::ffff:10.1.2.3]:443'],
    ['a forged trusted address does not hide the one behind it', '192.0.2.5', '10.9.9.9, 192.0.2.5'],
    ['invalid addresses count as one', 'garbage', 'x'.repeat(3_000)],
    ['invalid addresses in a chain count as one', '1.1.1.1, unknown', '2.2.2.2, _hidden'],
    ['an empty chain counts as the proxy', ', ,', ' '],
  ])('%s', async (_rule, one, other) => {
    expect([await remaining(one), await remaining(other)]).toEqual([59, 58]);
  });

  it('a valid key counts for its client wherever it calls from', async () => {
    const caller = await proxied.caller({ plan: 'free' });
    const chains = ['192.0.2.8', '192.0.2.9', 'garbage'];
    for (const [index, chain] of chains.entries()) {
      const answer = await caller.with({ 'X-Forwarded-For': chain }).get(COUNTED);
      expect(limitsIn(answer).remaining).toBe(59 - index);
    }
  });
});
