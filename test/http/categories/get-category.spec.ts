import type { ErrorBody } from '../../support/api-client';
import { Arrange, type Category } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('GET /categories/{categoryId}', () => {
  const { service, caller } = useStore();
  let category: Category;

  beforeAll(async () => {
    category = await new Arrange(caller).category('Dogs');
  });

  it('200: returns the category, and no description if it has none', async () => {
    const { status, body, headers } = await caller.get<Category>(`/categories/${category.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ id: category.id, name: 'Dogs' });
    expect(headers.get('etag')).toMatch(/^"[\w-]+"$/);
  });

  it('200: answers HEAD with the header fields of GET and no body', async () => {
    const got = await caller.get(`/categories/${category.id}`);
    const head = await caller.send('HEAD', `/categories/${category.id}`);
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['etag', 'content-type', 'content-length']) {
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    }
  });

  it('304: returns no body for a current ETag', async () => {
    const { headers } = await caller.get(`/categories/${category.id}`);
    const holder = caller.with({ 'If-None-Match': headers.get('etag')! });
    const answer = await holder.get(`/categories/${category.id}`);
    expect([answer.status, answer.text]).toEqual([304, '']);
    expect(answer.headers.get('etag')).toBe(headers.get('etag'));
  });

  test.each([
    '0',
    '-1',
    '01',
    '1.0',
    '1e0',
    'x',
    '9007199254740992',
    '%20',
    '1%00',
    '%F0%28',
    '1'.repeat(300),
  ])('400: rejects the id %s', async (id) => {
    const { body } = await caller.get<ErrorBody>(`/categories/${id}`);
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(body.message).toBe('categoryId must be an integer from 1 to 9007199254740991.');
  });

  it('401: returns nothing without a key', async () => {
    const { body } = await service.anonymous().get<ErrorBody>(`/categories/${category.id}`);
    expect(body).toMatchObject({ code: 'missing_api_key', status: 401 });
  });

  it('403: returns nothing without the scope read', async () => {
    const writer = await service.caller({ scopes: ['write'] });
    const { body } = await writer.get<ErrorBody>(`/categories/${category.id}`);
    expect(body).toMatchObject({ code: 'insufficient_scope', status: 403 });
  });

  test.each([4_711, Number.MAX_SAFE_INTEGER])('404: category %p does not exist', async (id) => {
    const { body } = await caller.get<ErrorBody>(`/categories/${id}`);
    expect(body).toEqual({ code: 'category_not_found', message: `There is no category ${id}.`, status: 404 });
  });
});
