import type { ApiClient } from '../../../support/api-client';
import { Arrange } from '../../../support/builders';
import { type TestService, startService } from '../../../support/service';

const RESOURCES = ['/pets/1', '/categories/1', '/store/orders/1', '/store/inventory/1'];
const CHANGES: [method: string, path: string, body: object][] = [
  ['PUT', '/pets/1', { name: 'Rex', categoryId: 1 }],
  ['PATCH', '/pets/1', { name: 'Rex' }],
  ['PUT', '/categories/1', { name: 'Dogs' }],
  ['PATCH', '/store/orders/1', { shipDate: '2026-11-21T09:30:00Z' }],
  ['PUT', '/store/inventory/1', { quantity: 5 }],
];
const DELETIONS = ['/store/orders/1', '/pets/1', '/categories/1'];
const OTHER = '"0SgU8bLYz3tEJ7_M5bIqkw"';

describe('conditional requests', () => {
  let service: TestService;
  let caller: ApiClient;
  const tagOf = async (target: string) => (await caller.get(target)).headers.get('etag')!;

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
  });
  beforeEach(async () => {
    await service.database.pool.query('TRUNCATE categories, pets, inventory, orders RESTART IDENTITY');
    const arrange = new Arrange(caller);
    await arrange.order((await arrange.pet(undefined, 5)).id);
  });
  afterAll(() => service.close());

  describe.each(RESOURCES)('If-None-Match on %s', (target) => {
    const HITS: [string, (tag: string) => string][] = [
      ['the ETag', (tag) => tag],
      ['the ETag in weak form', (tag) => `W/${tag}`],
      ['a list with it', (tag) => `${OTHER}, W/"x,y",${tag}`],
      ['any', () => '*'],
    ];
    const MISSES: [string, (tag: string) => string][] = [
      ['another ETag', () => OTHER],
      ['the ETag without quotes', (tag) => tag.slice(1, -1)],
      ['nothing', () => ''],
    ];

    test.each(HITS)('answers 304 without a body for %s, to GET and HEAD', async (_what, field) => {
      const tag = await tagOf(target);
      for (const method of ['GET', 'HEAD']) {
        const answer = await caller.with({ 'If-None-Match': field(tag) }).send(method, target);
        expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', tag]);
        expect(answer.headers.has('content-type')).toBe(false);
      }
    });

    test.each(MISSES)('answers 200 for %s', async (_what, field) => {
      const answer = await caller.with({ 'If-None-Match': field(await tagOf(target)) }).get(target);
      expect(answer.status).toBe(200);
    });
  });

  it('a 304 is not counted, and its headers show it', async () => {
    const limited = await service.caller({ plan: 'free' });
    const first = await limited.get('/categories/1');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('59');
    const holder = limited.with({ 'If-None-Match': first.headers.get('etag')! });
    for (let times = 0; times < 3; times += 1) {
      const answer = await holder.get('/categories/1');
      expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([304, '59']);
    }
    expect((await limited.get('/categories/1')).headers.get('x-ratelimit-remaining')).toBe('58');
  });

  it('404 takes precedence over conditions', async () => {
    expect((await caller.with({ 'If-None-Match': '*' }).get('/pets/4711')).status).toBe(404);
    expect((await caller.with({ 'If-Match': '*' }).delete('/pets/4711')).status).toBe(404);
  });

  describe.each(CHANGES)('If-Match on %s %s', (method, target, body) => {
    const send = (field: string) => caller.with({ 'If-Match': field }).send(method, target, body);

    test.each<[string, (tag: string) => string]>([
      ['the ETag', (tag) => tag],
      ['a list with it', (tag) => `${OTHER}, ${tag}`],
      ['any', () => '*'],
    ])('applies the change for %s', async (_what, field) => {
      expect((await send(field(await tagOf(target)))).status).toBe(200);
    });

    test.each<[string, (tag: string) => string]>([
      ['another ETag', () => OTHER],
      ['the ETag in weak form', (tag) => `W/${tag}`],
      ['the ETag without quotes', (tag) => tag.slice(1, -1)],
      ['nothing', () => ''],
    ])('answers 412 for %s and changes nothing', async (_what, field) => {
      const before = await tagOf(target);
      expect((await send(field(before))).status).toBe(412);
      expect(await tagOf(target)).toBe(before);
    });
  });

  it.each(DELETIONS)(
    'If-Match on DELETE %s answers 412 for another ETag and deletes nothing',
    async (target) => {
      expect((await caller.with({ 'If-Match': OTHER }).delete(target)).status).toBe(412);
      expect((await caller.get(target)).status).toBe(200);
    },
  );

  it('If-None-Match has no effect on a change', async () => {
    const holder = caller.with({ 'If-None-Match': await tagOf('/categories/1') });
    expect((await holder.put('/categories/1', { name: 'Cats' })).status).toBe(200);
  });
});
