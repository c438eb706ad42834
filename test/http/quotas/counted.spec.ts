import { Arrange } from '../../support/builders';
import type { Answer, ApiClient, ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import {
  COUNTED,
  MINUTE,
  call,
  freshMinute,
  limitsIn,
  standing,
  statuses,
  without,
} from '../../support/limits';

const service = useService();
let petId: number;
let etag: string;

beforeAll(async () => {
  const arranging = await service.caller();
  petId = (await new Arrange(arranging).pet()).id;
  etag = (await arranging.get(`/pets/${petId}`)).headers.get('etag')!;
});
beforeEach(() => freshMinute(service));

/** How many requests these cost the caller, in both windows. */
async function costOf(caller: ApiClient, requests: () => Promise<unknown>): Promise<[number, number]> {
  const before = await standing(caller);
  await requests();
  const after = await standing(caller);
  return [before.minute.remaining - after.minute.remaining, before.day.remaining - after.day.remaining];
}

describe('a request with a valid key is counted', () => {
  it.each([
    ['200', 200, 'GET', '/pets', undefined],
    ['200 of a HEAD', 200, 'HEAD', '/pets', undefined],
    ['201', 201, 'POST', '/categories', { name: 'Cats' }],
    ['400 of a bad value', 400, 'GET', '/pets/x', undefined],
    ['400 of an unknown parameter', 400, 'GET', '/pets?nothing=1', undefined],
    ['400 of broken JSON', 400, 'POST', '/pets', '{'],
    ['404 of a pet', 404, 'GET', '/pets/4711', undefined],
    ['404 of a path', 404, 'GET', '/no/such/path', undefined],
    ['405', 405, 'PATCH', '/pets', {}],
    ['405 of a method that no path has', 405, 'PROPFIND', '/pets', undefined],
    ['405 of OPTIONS that is no preflight', 405, 'OPTIONS', '/pets', undefined],
    ['405 of a path that is itself free with a key', 405, 'POST', '/rate-limit', {}],
    ['422', 422, 'POST', '/pets', { name: 'Rex', categoryId: 4711 }],
  ])('when it is answered %s', async (_what, status, method, path, body) => {
    const caller = await service.caller({ plan: 'free' });
    let answer: Answer<never> | undefined;
    const cost = await costOf(caller, async () => (answer = await caller.send(method, path, body)));
    expect([answer!.status, ...cost]).toEqual([status, 1, 1]);
    expect(limitsIn(answer!)).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('when it is answered 403 for a missing scope, and 415', async () => {
    const caller = await service.caller({ plan: 'free', scopes: ['read'] });
    expect(await costOf(caller, () => caller.post('/categories', { name: 'Cats' }))).toEqual([1, 1]);
    const xml = (await service.caller({ plan: 'free' })).with({ 'Content-Type': 'text/xml' });
    expect(await costOf(xml, () => xml.post('/categories', '<name/>'))).toEqual([1, 1]);
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

  it('at most as often per window as its limit: from then on 304 counts, and is finally refused', async () => {
    const caller = await service.caller({ perMinute: 3, perDay: 4 });
    const answers = await call(caller.with({ 'If-None-Match': '*' }), 8, `/pets/${petId}`);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual([
      [304, 3],
      [304, 3],
      [304, 3],
      [304, 2],
      [304, 1],
      [304, 0],
      [429, 0],
      [429, 0],
    ]);
    expect((await standing(caller)).day.remaining).toBe(2);
    service.clock.advance(MINUTE);
    const next = await call(caller.with({ 'If-None-Match': '*' }), 3, `/pets/${petId}`);
    expect(next.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual([
      [304, 1],
      [304, 0],
      [429, 0],
    ]);
  });

  it('and 5xx likewise', async () => {
    const caller = await service.caller({ perMinute: 2, perDay: 100 });
    const failed = await without(service, 'categories', () => statuses(caller, 5));
    expect(failed).toEqual([500, 500, 500, 500, 429]);
  });
});

describe('never counted, with or without a key:', () => {
  it.each([
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
    ['GET', '/openapi.json'],
    ['GET', '/openapi.yaml'],
    ['GET', '/docs'],
    ['OPTIONS', '/pets'],
  ])('%s %s', async (method, path) => {
    const { key } = await service.issueKey({ plan: 'free' });
    const caller = service.anonymous().with({ 'X-API-Key': key });
    const preflight = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' };
    const fields: Record<string, string> = method === 'OPTIONS' ? preflight : {};
    const send = async (headers: Record<string, string>) => {
      await (await fetch(`${service.url}${path}`, { method, headers })).arrayBuffer();
    };
    expect(await costOf(caller, () => send({ ...fields, 'X-API-Key': key }))).toEqual([0, 0]);
    await send(fields);
    await send(fields);
    const stranger = await service.anonymous().get('/pets');
    expect([stranger.status, limitsIn(stranger).remaining]).toEqual([401, 59]);
  });
});
