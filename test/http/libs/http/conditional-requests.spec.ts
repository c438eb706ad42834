import type { Answer, ErrorBody } from '../../../support/api-client';
import { useStore } from '../../../support/use-service';

type Body = (text: string, count: number) => object;
const pet: Body = (name) => ({ name, categoryId: 1 });
const named: Body = (name) => ({ name });
const dated: Body = (_text, count) => ({ shipDate: `2026-11-21T09:30:0${count}.000Z` });
const counted: Body = (_text, count) => ({ quantity: 5 + count });

const RESOURCES = ['/pets/1', '/pets?id=1', '/categories/1', '/store/orders/1', '/store/inventory/1'];
const CHANGES: [method: string, path: string, body: Body][] = [
  ['PUT', '/pets/1', pet],
  ['PATCH', '/pets/1', named],
  ['PUT', '/categories/1', named],
  ['PATCH', '/store/orders/1', dated],
  ['PUT', '/store/inventory/1', counted],
];
/** What has an ETag to compare with, and what has none. */
const WITHOUT_TAG = ['/pets', '/categories?limit=1', '/store/orders', '/events', '/key', '/rate-limit'];
const CREATIONS: [path: string, body: object][] = [
  ['/pets', { name: 'Rex', categoryId: 1 }],
  ['/categories', { name: 'Dogs' }],
  ['/store/orders', { petId: 1 }],
];
const OTHER = '"0SgU8bLYz3tEJ7_M5bIqkw"';

describe('conditional requests', () => {
  const { caller, arrange } = useStore();
  const tagOf = async (target: string) => (await caller.get(target)).headers.get('etag')!;

  beforeAll(async () => {
    await arrange.order((await arrange.pet(undefined, 5)).id);
  });

  /** What a write returned is what is read afterwards, and under the same ETag. */
  async function expectRead(target: string, { text, headers }: Answer<unknown>): Promise<void> {
    const found = await caller.get(target);
    expect([found.text, found.headers.get('etag')]).toEqual([text, headers.get('etag')]);
    expect(headers.get('etag')).toMatch(/^"[\w-]+"$/);
  }

  it.each(CREATIONS)('POST %s returns the Location and the ETag of what was created', async (path, body) => {
    const created = await caller.post<{ id: number }>(path, body);
    expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`);
    await expectRead(`${path}/${created.body.id}`, created);
  });

  describe.each(RESOURCES)('If-None-Match on %s', (target) => {
    it('returns 304 and nothing else for the ETag, strong or weak, in a list, and *, to GET and HEAD', async () => {
      const tag = await tagOf(target);
      for (const field of [tag, `W/${tag}`, `${OTHER}, W/"x,y",${tag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await caller.with({ 'If-None-Match': field }).send(method, target);
          expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', tag]);
          expect([answer.headers.has('content-type'), answer.headers.has('content-length')]).toEqual([
            false,
            false,
          ]);
        }
      }
    });

    it('returns 200 for another ETag, one without quotes and an empty one', async () => {
      const tag = await tagOf(target);
      for (const field of [OTHER, `${OTHER}, "*"`, tag.slice(1, -1), `"x,${tag.slice(1)}`, '']) {
        expect((await caller.with({ 'If-None-Match': field }).get(target)).status).toBe(200);
      }
    });
  });

  describe.each(CHANGES)('If-Match on %s %s', (method, target, body) => {
    const send = (field: string, text: string, count: number) =>
      caller.with({ 'If-Match': field }).send<unknown>(method, target, body(`${method} ${text}`, count));

    it('accepts the change for the current ETag, alone or in a list, and for *', async () => {
      for (const [count, form] of [
        (tag: string) => tag,
        (tag: string) => `${OTHER}, ${tag}`,
        () => '*',
      ].entries()) {
        const before = await tagOf(target);
        const changed = await send(form(before), `good ${count}`, count);
        expect([changed.status, changed.headers.get('etag') === before]).toEqual([200, false]);
        await expectRead(target, changed);
      }
    });

    it('returns 412 for a stale, weak, unquoted or empty one, says why, and changes nothing', async () => {
      const before = await tagOf(target);
      for (const [field, why] of [
        [OTHER, 'none of the ETags'],
        [`W/${before}`, 'A weak ETag'],
        [before.slice(1, -1), 'double quotes'],
        ['', 'double quotes'],
      ] as const) {
        const refused = await send(field, 'stale', 9);
        const message = expect.stringContaining(why) as string;
        expect(refused.body).toEqual({ code: 'precondition_failed', status: 412, message });
        expect(await tagOf(target)).toBe(before);
      }
    });

    it('returns 412 to an If-None-Match that matches, beside an If-Match too, and changes nothing', async () => {
      const before = await tagOf(target);
      const matching: Record<string, string>[] = [
        { 'If-None-Match': before },
        { 'If-None-Match': `${OTHER}, W/${before}` },
        { 'If-None-Match': '*' },
        { 'If-None-Match': before, 'If-Match': before },
      ];
      for (const headers of matching) {
        const answer = await caller.with(headers).send<ErrorBody>(method, target, body('matching', 1));
        expect(answer.body).toMatchObject({ code: 'precondition_failed', status: 412 });
        expect(answer.body.message).toContain('If-None-Match');
        expect(await tagOf(target)).toBe(before);
      }
      const other = caller.with({ 'If-None-Match': OTHER });
      expect((await other.send(method, target, body('another', 2))).status).toBe(200);
    });

    it('accepts exactly one of several concurrent changes with the same ETag', async () => {
      const before = await tagOf(target);
      const answers = await Promise.all([4, 5, 6, 7, 8].map((count) => send(before, `race ${count}`, count)));
      const winners = answers.filter(({ status }) => status === 200);
      expect([winners.length, answers.filter(({ status }) => status === 412).length]).toEqual([1, 4]);
      await expectRead(target, winners[0]!);
    });
  });

  it.each([...RESOURCES, ...WITHOUT_TAG])(
    'GET %s with an If-Match that nothing matches is 412',
    async (target) => {
      const stale = await caller.with({ 'If-Match': OTHER }).get<ErrorBody>(target);
      expect(stale.body).toMatchObject({ code: 'precondition_failed', status: 412 });
      expect((await caller.with({ 'If-Match': '*' }).get(target)).status).toBe(200);
      if (RESOURCES.includes(target)) {
        const tag = await tagOf(target);
        expect((await caller.with({ 'If-Match': tag, 'If-None-Match': tag }).get(target)).status).toBe(304);
      }
    },
  );

  it.each(WITHOUT_TAG)('GET %s is 304 for If-None-Match: *, and not for any ETag', async (target) => {
    const held = await caller.with({ 'If-None-Match': '*' }).get(target);
    expect([held.status, held.text]).toEqual([304, '']);
    expect((await caller.with({ 'If-None-Match': OTHER }).get(target)).status).toBe(200);
  });

  it('an adjustment holds its conditions against the stock', async () => {
    const [target, adjust] = ['/store/inventory/1', '/store/inventory/1/adjustments'];
    const before = await tagOf(target);
    for (const [name, value] of [
      ['If-Match', OTHER],
      ['If-None-Match', before],
      ['If-None-Match', '*'],
    ] as const) {
      expect((await caller.with({ [name]: value }).post(adjust, { delta: 1 })).status).toBe(412);
    }
    expect(await tagOf(target)).toBe(before);
    expect((await caller.with({ 'If-Match': before }).post(adjust, { delta: 1 })).status).toBe(200);
  });

  it.each(CREATIONS)('POST %s with an If-Match other than * creates nothing', async (path, body) => {
    const refused = await caller.with({ 'If-Match': OTHER }).post<ErrorBody>(path, body);
    expect(refused.body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.with({ 'If-Match': '*' }).post(path, body)).status).toBe(201);
  });

  it('If-None-Match: * on a POST fails where a GET would find something, and holds where there is no GET', async () => {
    const exclusive = caller.with({ 'If-None-Match': '*' });
    expect((await exclusive.post('/categories', { name: 'Dogs' })).status).toBe(412);
    expect((await exclusive.post('/webhooks/4711/test')).status).toBe(404);
  });

  it('404 takes precedence over conditions', async () => {
    expect((await caller.with({ 'If-None-Match': '*' }).get('/pets/4711')).status).toBe(404);
    expect((await caller.with({ 'If-Match': '*' }).delete('/pets/4711')).status).toBe(404);
  });

  it.each([
    ['an order', async () => `/store/orders/${(await arrange.order((await arrange.pet()).id)).id}`],
    ['a pet', async () => `/pets/${(await arrange.pet()).id}`],
    ['a category', async () => `/categories/${(await arrange.category()).id}`],
  ])('If-Match deletes %s for the current ETag only', async (_what, made) => {
    const target = await made();
    const tag = await tagOf(target);
    const stale = await caller.with({ 'If-Match': OTHER }).delete(target);
    expect(stale.body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(await tagOf(target)).toBe(tag);
    expect((await caller.with({ 'If-Match': tag }).delete(target)).status).toBe(204);
  });

  it("a list that is asked for one id and nothing else has the entry's own ETag", async () => {
    expect(await tagOf('/pets?id=1')).toBe(await tagOf('/pets/1'));
    const others = [
      '/categories',
      '/pets',
      '/pets?id=1&id=1',
      '/pets?id=1&limit=5',
      '/pets?id=1&name=',
      '/pets?id=9',
    ];
    for (const target of others) {
      expect([target, (await caller.get(target)).headers.has('etag')]).toEqual([target, false]);
    }
  });
});
