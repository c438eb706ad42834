import { newApiKey } from '../../../src/modules/auth/api-key-format';
import type { ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { COUNTED, MINUTE, call, freshMinute, limitsIn, statuses } from '../../support/limits';

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

const service = useService();
beforeEach(() => freshMinute(service));

describe('an address without a valid key', () => {
  it('has 60 requests a minute for GET /rate-limit too, even with a different forged key each time', async () => {
    const answered = new Map<number, number>();
    for (let sent = 0; sent < 65; sent += 1) {
      const forged = service.anonymous().with({ 'X-API-Key': newApiKey() });
      const { status } = await forged.get('/rate-limit');
      answered.set(status, (answered.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(answered)).toEqual({ 401: 60, 429: 5 });
  });

  it('has 60 requests a minute, with the same headers and no daily limit', async () => {
    const answers = await call(service.anonymous(), 60);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
      Array.from({ length: 60 }, (_, index) => [401, 59 - index]),
    );
    expect(limitsIn(answers[0]!)).toMatchObject({
      limit: 60,
      reset: (service.clock.now() + MINUTE) / 1000,
      policy: '"minute";q=60;w=60',
      state: '"minute";r=59;t=60',
    });
  });

  it('is then refused with Retry-After, served again after that, and never banned', async () => {
    const caller = service.anonymous();
    await call(caller, 60);
    service.clock.advance(19_500);
    const refused = await call<ErrorBody>(caller, 40);
    expect(new Set(refused.map((answer) => `${answer.status} ${answer.body.code}`))).toEqual(
      new Set(['429 rate_limit_exceeded']),
    );
    expect(limitsIn(refused[0]!)).toMatchObject({ limit: 60, remaining: 0, retryAfter: 41 });
    expect(refused[0]!.body.message).not.toMatch(/ban/);
    service.clock.advance(40_499);
    expect(await statuses(caller, 1)).toEqual([429]);
    service.clock.advance(1);
    expect(await statuses(caller, 1)).toEqual([401]);
  });

  it.each(STRANGERS)('is counted with %s', async (_what, headers, method, path, status) => {
    const first = await service.anonymous().with(headers).send(method, path);
    expect([first.status, limitsIn(first).remaining]).toEqual([status, 59]);
    expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(58);
  });

  it('is refused whatever it requests or forges', async () => {
    await call(service.anonymous(), 60);
    for (const [, headers, method, path] of STRANGERS) {
      expect((await service.anonymous().with(headers).send(method, path)).status).toBe(429);
    }
  });

  it('shares nothing with the valid keys behind it', async () => {
    const caller = await service.caller({ plan: 'free' });
    await call(service.anonymous(), 61);
    expect(await statuses(caller, 60)).toEqual(Array<number>(60).fill(200));
    expect(await statuses(caller, 1)).toEqual([429]);
    freshMinute(service);
    await call(caller, 61);
    expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(59);
  });

  it('is counted for malformed HTTP too', async () => {
    const { connect } = await import('node:net');
    const socket = connect(service.port, '127.0.0.1');
    socket.end('NOT HTTP\r\n\r\n');
    const answer = (await socket.setEncoding('utf8').toArray()).join('');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*X-RateLimit-Remaining: 59\r\n/);
    expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(58);
  });
});
