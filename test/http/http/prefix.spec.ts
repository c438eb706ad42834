import { nextOf } from '../../support/api-client';
import { useStore } from '../../support/use-service';

const trusting = useStore({ settings: { trustProxy: ['127.0.0.1'] } });
const others = useStore();

/** Sends the request as a proxy that has removed this prefix from its path. */
const below = (prefix: string, { caller } = trusting) => caller.with({ 'X-Forwarded-Prefix': prefix });

beforeAll(async () => {
  for (const { arrange } of [trusting, others]) {
    await arrange.pet();
    await arrange.pet();
  }
});

test('What a response links to is below the prefix that a trusted proxy has removed', async () => {
  const caller = below('/shop');
  expect(nextOf(await caller.get('/pets?limit=1'))).toMatch(/^\/shop\/pets\?limit=1&cursor=/);
  expect(nextOf(await caller.get('/events?limit=1'))).toMatch(/^\/shop\/events\?limit=1&cursor=/);
  const created = await caller.post<{ id: number }>('/categories', { name: 'Dogs' });
  expect(created.headers.get('location')).toBe(`/shop/categories/${created.body.id}`);
  const { headers } = await caller.get('/pets/1');
  expect(headers.get('link')).toContain('</shop/docs/guides/deprecation');
  expect(headers.get('link')).toContain('</shop/pets?id=1>; rel="successor-version"');
});

test.each([
  ['/shop/', '/shop'],
  ['/other, /a/b-c', '/a/b-c'],
  ['/', ''],
  ['', ''],
  ['shop', ''],
  ['//evil.example', ''],
  ['/a>; rel="next", <b', ''],
  ['https://evil.example/', ''],
])('The prefix %s is read as "%s"', async (sent, prefix) => {
  expect(nextOf(await below(sent).get('/pets?limit=1'))).toMatch(new RegExp(`^${prefix}/pets\\?`));
});

test('Nobody else can move the links', async () => {
  expect(nextOf(await below('/shop', others).get('/pets?limit=1'))).toMatch(/^\/pets\?/);
});
