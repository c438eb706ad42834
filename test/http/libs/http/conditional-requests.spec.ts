import { CommandExecutor } from '#libs/database';
import { CategoriesService } from '../../../../src/modules/categories';
import { Category } from '../../../../src/modules/categories/category.entity';
import type { Answer, ErrorBody } from '../../../support/api-caller';
import { useStore } from '../../../support/use-service';

// every-operation.spec.ts tests that each operation refuses a stale If-Match, and then changes nothing.

const RESOURCES = ['/pets/1', '/pets?id=1', '/categories/1', '/store/orders/1', '/store/inventory/1'];
/** Writes. Their bodies depend on a count, so that every write changes the resource. */
const CHANGES: [method: string, path: string, body: (count: number) => object][] = [
  ['PUT', '/pets/1', (count) => ({ name: `Put ${count}`, categoryId: 1 })],
  ['PATCH', '/pets/1', (count) => ({ name: `Patch ${count}` })],
  ['PUT', '/categories/1', (count) => ({ name: `Cats ${count}` })],
  ['PATCH', '/store/orders/1', (count) => ({ shipDate: `2026-11-21T09:30:0${count}.000Z` })],
  ['PUT', '/store/inventory/1', (count) => ({ quantity: 5 + count })],
];
/** Targets whose answers have no ETag. */
const WITHOUT_TAG = ['/pets', '/categories?limit=1', '/store/orders', '/events', '/key', '/rate-limit'];
const OTHER = '"0SgU8bLYz3tEJ7_M5bIqkw"';

const { service, caller, arrange } = useStore();
const tagOf = async (target: string) => (await caller.get(target)).headers.get('etag')!;

beforeAll(async () => {
  await arrange.order((await arrange.pet(undefined, 5)).id);
  await caller.post('/webhooks', { url: 'https://shop.example/', enabled: false });
});

/** Expects that a read returns the body and the ETag that the write has returned. */
async function expectRead(target: string, { text, headers }: Answer<unknown>): Promise<void> {
  const found = await caller.get(target);
  expect([found.text, found.headers.get('etag')]).toEqual([text, headers.get('etag')]);
  expect(headers.get('etag')).toMatch(/^"[\w-]+"$/);
}

it.each([
  ['/pets', { name: 'Rex', categoryId: 1 }],
  ['/categories', { name: 'Dogs' }],
  ['/store/orders', { petId: 1 }],
])('POST %s returns the Location and the ETag of what was created', async (path, body) => {
  const created = await caller.with({ 'If-Match': '*' }).post<{ id: number }>(path, body);
  expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`);
  await expectRead(`${path}/${created.body.id}`, created);
});

describe.each(RESOURCES)('GET %s', (target) => {
  it('is 304 and nothing else for the ETag, strong or weak, in a list, and *, to GET and HEAD', async () => {
    const tag = await tagOf(target);
    for (const field of [tag, `W/${tag}`, `${OTHER}, W/"x,y",${tag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await caller.with({ 'If-None-Match': field }).send(method, target);
        expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', tag]);
        const described = ['content-type', 'content-length'].filter((name) => answer.headers.has(name));
        expect(described).toEqual([]);
      }
    }
    const both = { 'If-Match': tag, 'If-None-Match': tag };
    expect((await caller.with(both).get(target)).status).toBe(304);
  });

  it('is 200 for another ETag, one without quotes and an empty one, and for If-Match: *', async () => {
    const tag = await tagOf(target);
    for (const field of [OTHER, `${OTHER}, "*"`, tag.slice(1, -1), `"x,${tag.slice(1)}`, '']) {
      expect((await caller.with({ 'If-None-Match': field }).get(target)).status).toBe(200);
    }
    expect((await caller.with({ 'If-Match': '*' }).get(target)).status).toBe(200);
  });
});

it.each(WITHOUT_TAG)('GET %s is 304 for If-None-Match: *, and not for any ETag', async (target) => {
  const held = await caller.with({ 'If-None-Match': '*' }).get(target);
  expect([held.status, held.text]).toEqual([304, '']);
  expect((await caller.with({ 'If-None-Match': OTHER }).get(target)).status).toBe(200);
  expect((await caller.with({ 'If-Match': '*' }).get(target)).status).toBe(200);
});

it.each(CHANGES)('%s %s accepts one of several concurrent changes', async (method, target, body) => {
  const before = await tagOf(target);
  const same = caller.with({ 'If-Match': before });
  const answers = await Promise.all([4, 5, 6, 7, 8].map((count) => same.send(method, target, body(count))));
  const winners = answers.filter(({ status }) => status === 200);
  expect([winners.length, answers.filter(({ status }) => status === 412).length]).toEqual([1, 4]);
  expect(winners[0]!.headers.get('etag')).not.toBe(before);
  await expectRead(target, winners[0]!);
  const anyOf = caller.with({ 'If-Match': `${OTHER}, ${await tagOf(target)}`, 'If-None-Match': OTHER });
  expect((await anyOf.send(method, target, body(1))).status).toBe(200);
  expect((await caller.with({ 'If-Match': '*' }).send(method, target, body(2))).status).toBe(200);
});

it('A change is 412 for a stale, weak, unquoted or empty If-Match, or a matching If-None-Match, and says why', async () => {
  const target = '/categories/1';
  const before = await tagOf(target);
  const refused: [headers: Record<string, string>, why: string][] = [
    [{ 'If-Match': OTHER }, 'none of the ETags'],
    [{ 'If-Match': `W/${before}` }, 'A weak ETag'],
    [{ 'If-Match': before.slice(1, -1) }, 'double quotes'],
    [{ 'If-Match': '' }, 'double quotes'],
    [{ 'If-Match': '*\xa0' }, 'double quotes'],
    [{ 'If-None-Match': `${OTHER}, W/${before}` }, 'If-None-Match'],
    [{ 'If-None-Match': '*' }, 'If-None-Match'],
    [{ 'If-None-Match': before, 'If-Match': before }, 'If-None-Match'],
  ];
  for (const [headers, why] of refused) {
    const { body } = await caller.with(headers).put<ErrorBody>(target, { name: 'Refused' });
    expect(body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(body.message).toContain(why);
    expect(await tagOf(target)).toBe(before);
  }
});

it('An adjustment holds its conditions against the stock', async () => {
  const [target, adjust] = ['/store/inventory/1', '/store/inventory/1/adjustments'];
  const before = await tagOf(target);
  expect((await caller.with({ 'If-None-Match': before }).post(adjust, { delta: 1 })).status).toBe(412);
  expect(await tagOf(target)).toBe(before);
  expect((await caller.with({ 'If-Match': before }).post(adjust, { delta: 1 })).status).toBe(200);
});

it('If-None-Match: * on a POST fails where a GET would find something, and holds where there is no GET', async () => {
  const exclusive = caller.with({ 'If-None-Match': '*' });
  expect((await exclusive.post('/categories', { name: 'Dogs' })).status).toBe(412);
  expect((await exclusive.post('/webhooks/4711/test')).status).toBe(404);
});

it.each([
  [400, '/pets', { name: '', categoryId: 1 }],
  [404, '/webhooks/4711/test', undefined],
  [404, '/webhooks/1/deliveries/4711/retry', undefined],
  [404, '/store/inventory/4711/adjustments', { delta: 1 }],
  [412, '/pets', { name: 'Rex', categoryId: 4711 }],
  [412, '/store/orders', { petId: 1, quantity: 4711 }],
  [412, '/webhooks', { url: 'https://127.0.0.1/events' }],
  [412, '/webhooks/1/test', undefined],
])('A stale If-Match of a POST comes before 409 and 422 only: %i at %s', async (status, path, body) => {
  expect((await caller.with({ 'If-Match': '"stale"' }).post(path, body)).status).toBe(status);
});

it('A command that does not declare its resource fails, with and without If-Match, and changes nothing', async () => {
  const commands = service.app.get(CommandExecutor);
  const replace = jest.spyOn(service.app.get(CategoriesService), 'replace');
  replace.mockImplementation((id, { name }, source) =>
    commands.execute(source, {
      needs: [{ entity: Category, id, lock: 'FOR NO KEY UPDATE' }],
      decide(state) {
        state.update(Category, id, { id, name, description: null });
        return { id, name };
      },
    }),
  );
  const before = await caller.get('/categories/1');
  for (const sender of [caller, caller.with({ 'If-Match': OTHER })]) {
    expect((await sender.put('/categories/1', { name: 'Unchecked' })).status).toBe(500);
  }
  expect((await caller.get('/categories/1')).text).toBe(before.text);
  expect(JSON.stringify(service.log.lines)).toContain('The command does not declare its resource');
  replace.mockRestore();
});

it('404 takes precedence over conditions', async () => {
  expect((await caller.with({ 'If-None-Match': '*' }).get('/pets/4711')).status).toBe(404);
  expect((await caller.with({ 'If-Match': '*' }).delete('/pets/4711')).status).toBe(404);
});

it('The current ETag deletes', async () => {
  const { id, categoryId } = await arrange.pet();
  const order = await arrange.order(id);
  for (const target of [`/store/orders/${order.id}`, `/pets/${id}`, `/categories/${categoryId}`]) {
    expect((await caller.with({ 'If-Match': await tagOf(target) }).delete(target)).status).toBe(204);
  }
});

it("A list that is asked for one id and nothing else has the entry's own ETag", async () => {
  expect(await tagOf('/pets?id=1')).toBe(await tagOf('/pets/1'));
  const others = ['/pets', '/pets?id=1&id=1', '/pets?id=1&limit=5', '/pets?id=1&name=', '/pets?id=9'];
  for (const target of ['/categories', ...others]) {
    expect([target, (await caller.get(target)).headers.has('etag')]).toEqual([target, false]);
  }
});
