import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type Category } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

const NAMES = [
  'Dogs',
  'dogfish',
  'DOGE',
  'Cats',
  '100% wool',
  '100 sheep',
  'a_b',
  'aXb',
  'c\\d',
  'Écureuil',
  'a?b&c=d',
];

describe('GET /categories', () => {
  let service: TestService;
  let caller: ApiClient;
  const namesOf = async (target: string) =>
    (await caller.get<Category[]>(target)).body.map(({ name }) => name);

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    for (const name of NAMES) {
      await new Arrange(caller).category(name);
    }
  });
  afterAll(() => service.close());

  it('200: returns every category in ascending order of id', async () => {
    const { body } = await caller.get<Category[]>('/categories');
    expect(body.map(({ name }) => name)).toEqual(NAMES);
    const ids = body.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  test.each([
    ['ignoring case', 'dOg', ['Dogs', 'dogfish', 'DOGE']],
    ['ignoring case beyond ASCII', 'éCU', ['Écureuil']],
    ['a literal percent sign', '100%', ['100% wool']],
    ['a literal underscore', 'a_', ['a_b']],
    ['a literal backslash', 'c\\', ['c\\d']],
    ['only a percent sign', '%', []],
    ['not the middle of a name', 'ogs', []],
    ['white space', ' ', []],
    ['characters reserved in URLs', 'a?b&c=', ['a?b&c=d']],
    ['a quote', "'", []],
  ])('200: filters names by prefix: %s', async (_what, prefix, names) => {
    expect(await namesOf(`/categories?name=${encodeURIComponent(prefix)}`)).toEqual(names);
  });

  it('200: returns a page with Link, and the same header fields for HEAD, without a body', async () => {
    const got = await caller.get<Category[]>('/categories?limit=2&name=dog');
    const head = await caller.send('HEAD', '/categories?limit=2&name=dog');
    expect(got.headers.get('link')).toMatch(/^<\/categories\?limit=2&name=dog&cursor=[\w-]+>; rel="next"$/);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('link')).toBe(got.headers.get('link'));
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
  });

  it('200: has no ETag, which only single resources have', async () => {
    expect((await caller.get('/categories')).headers.has('etag')).toBe(false);
  });

  test.each([
    ['an empty name', 'name='],
    ['a name given twice', 'name=a&name=b'],
    ['a name of 201 characters', `name=${'a'.repeat(201)}`],
    ['a name with NUL', 'name=%00'],
    ['an unknown parameter', 'status=sold'],
    ['a parameter in another case', 'Name=a'],
    ['a parameter that objects inherit', 'toString=1'],
    ['a parameter named like a prototype', '__proto__=1'],
    ['a parameter named like a constructor', 'constructor=1'],
    ['a parameter without a name', '=1'],
  ])('400: rejects %s', async (_what, query) => {
    const { body } = await caller.get<ErrorBody>(`/categories?${query}`);
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('401: returns nothing without a key', async () => {
    const { body } = await service.anonymous().get<ErrorBody>('/categories');
    expect(body).toMatchObject({ code: 'missing_api_key', status: 401 });
  });
});
