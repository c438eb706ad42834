import { newApiKey } from '../../../src/modules/auth/api-key';
import type { ErrorBody } from '../../support/api-client';
import { COUNTED, MINUTE, call, freshMinute, limitsIn, statuses } from '../../support/limits';
import { exchange } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const STRANGERS: [string, Record<string, string>, string, string, number][] = [
  ['no key', {}, 'GET', COUNTED, 401],
  ['a mistyped key', { 'X-API-Key': 'psk_live_x' }, 'GET', COUNTED, 401],
  ['an unknown key', { 'X-API-Key': newApiKey() }, 'GET', COUNTED, 401],
  ['two keys', { 'X-API-Key': newApiKey(), Authorization: `Bearer ${newApiKey()}` }, 'GET', COUNTED, 400],
  ['no key for GET /rate-limit', {}, 'GET', '/rate-limit', 401],
  ['an unknown key for GET /rate-limit', { 'X-API-Key': newApiKey() }, 'GET', '/rate-limit', 401],
  ['an unknown path', {}, 'GET', '/no/such/path', 404],
  ['a wrong method', {}, 'PATCH', '/pets', 405],
  ['an untrusted forwarding header field', { 'X-Forwarded-For': '1.2.3.4' }, 'GET', COUNTED, 401],
];

const direct = useService();
const proxied = useService({ settings: { trustProxy: ['127.0.0.1', '10.0.0.0/8'] } });
beforeEach(() => [direct, proxied].forEach(freshMinute));

describe('an address without a valid key', () => {
  it('has 60 requests a minute, with the same headers and no daily limit', async () => {
    const answers = await call(direct.anonymous(), 60);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
      Array.from({ length: 60 }, (_, index) => [401, 59 - index]),
    );
    expect(limitsIn(answers[0]!)).toMatchObject({
      limit: 60,
      reset: (direct.clock.now() + MINUTE) / 1000,
      policy: '"minute";q=60;w=60',
      state: '"minute";r=59;t=60',
    });
  });

  it('is then refused with Retry-After, served again after that, and never banned', async () => {
    const caller = direct.anonymous();
    await call(caller, 60);
    direct.clock.advance(19_500);
    const refused = await call<ErrorBody>(caller, 40);
    expect(new Set(refused.map((answer) => `${answer.status} ${answer.body.code}`))).toEqual(
      new Set(['429 rate_limit_exceeded']),
    );
    expect(limitsIn(refused[0]!)).toMatchObject({ limit: 60, remaining: 0, retryAfter: 41 });
    expect(refused[0]!.body.message).not.toMatch(/ban/);
    direct.clock.advance(40_499);
    expect(await statuses(caller, 1)).toEqual([429]);
    direct.clock.advance(1);
    expect(await statuses(caller, 1)).toEqual([401]);
  });

  it.each(STRANGERS)('is counted with %s', async (_what, headers, method, path, status) => {
    const first = await direct.anonymous().with(headers).send(method, path);
    expect([first.status, limitsIn(first).remaining]).toEqual([status, 59]);
    expect(limitsIn(await direct.anonymous().get(COUNTED)).remaining).toBe(58);
  });

  it('is refused whatever it requests or forges', async () => {
    await call(direct.anonymous(), 60);
    for (const [, headers, method, path] of STRANGERS) {
      expect((await direct.anonymous().with(headers).send(method, path)).status).toBe(429);
    }
  });

  it('shares nothing with the valid keys behind it', async () => {
    const caller = await direct.caller({ plan: 'free' });
    await call(direct.anonymous(), 61);
    expect(await statuses(caller, 60)).toEqual(Array<number>(60).fill(200));
    expect(await statuses(caller, 1)).toEqual([429]);
    freshMinute(direct);
    await call(caller, 61);
    expect(limitsIn(await direct.anonymous().get(COUNTED)).remaining).toBe(59);
  });
});

/** Header fields in which one proxy or another tells whom it forwards for. */
const FIELDS = [
  'Forwarded',
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'Fastly-Client-IP',
  'X-Cluster-Client-IP',
  'X-Forwarded-Host',
];
const forged = (field: string, index: number) => ({
  [field]: field === 'Forwarded' ? `for=192.0.2.${index};proto=https` : `192.0.2.${index}`,
});

function from(chain: string) {
  return proxied.anonymous().with({ 'X-Forwarded-For': chain });
}

async function remaining(chain: string): Promise<number> {
  return limitsIn(await from(chain).get(COUNTED)).remaining;
}

describe('behind a trusted proxy', () => {
  it('each address has a limit of its own', async () => {
    await call(from('192.0.2.1'), 60);
    expect((await from('192.0.2.1').get(COUNTED)).status).toBe(429);
    expect((await from('192.0.2.2').get(COUNTED)).status).toBe(401);
  });

  it.each([
    [
      'a forged chain counts as the address that the proxy saw',
      '1.1.1.1, 192.0.2.3',
      '8.8.8.8, 9.9.9.9, 192.0.2.3',
    ],
    [
      'a chain of trusted proxies counts as the address before them',
      '192.0.2.4',
      '6.6.6.6, 192.0.2.4, 10.1.2.3',
    ],
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
    const left: number[] = [];
    for (const chain of chains) {
      left.push(limitsIn(await caller.with({ 'X-Forwarded-For': chain }).get(COUNTED)).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });
});

test('malformed HTTP names no caller: it is limited, but not at the expense of requests with the address of the proxy', async () => {
  const malformed = async () => {
    const { status, headers } = await exchange(proxied.port, 'garbage\r\n\r\n');
    return [status, headers['x-ratelimit-remaining']];
  };
  expect(await malformed()).toEqual([400, '59']);
  for (let sent = 0; sent < 59; sent += 1) await malformed();
  expect(await malformed()).toEqual([429, '0']);
  expect(limitsIn(await proxied.anonymous().get(COUNTED)).remaining).toBe(59);
});

describe.each([
  ['without a trusted proxy', direct, FIELDS],
  ['behind a trusted one', proxied, FIELDS.filter((field) => field !== 'X-Forwarded-For')],
])('a forged address %s', (_where, where, fields) => {
  it.each(fields)('does not get a separate quota: %s', async (field) => {
    freshMinute(where);
    const left: number[] = [];
    for (const index of [1, 2, 3]) {
      left.push(limitsIn(await where.anonymous().with(forged(field, index)).get(COUNTED)).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });
});
