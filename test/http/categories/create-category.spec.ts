import type { ErrorBody } from '../../support/api-client';
import type { Category } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('POST /categories', () => {
  const { service, caller } = useStore();

  describe('201', () => {
    test.each([
      ['a name alone', { name: 'Dogs' }],
      ['a description', { name: 'Dogs', description: 'Loyal, loud and always hungry.' }],
      ['an empty description', { name: 'Dogs', description: '' }],
      ['the longest description, in characters', { name: 'Dogs', description: '🐕'.repeat(2_000) }],
      ['the longest name, in characters', { name: '🐕'.repeat(200) }],
      ['white space around the name', { name: ' Dogs\n' }],
    ])('returns what was sent, with an id: %s', async (_what, body) => {
      const { status, body: category } = await caller.post<Category>('/categories', body);
      expect(status).toBe(201);
      expect(category).toEqual({ ...body, id: expect.any(Number) });
    });

    it('returns the Location and ETag of the category', async () => {
      const created = await caller.post<Category>('/categories', { name: 'Cats' });
      const location = created.headers.get('location')!;
      expect(location).toBe(`/categories/${created.body.id}`);
      const found = await caller.get<Category>(location);
      expect(found.text).toBe(created.text);
      expect(found.headers.get('etag')).toBe(created.headers.get('etag'));
    });

    it('accepts a name twice, and assigns a larger id', async () => {
      const first = await caller.post<Category>('/categories', { name: 'Birds' });
      const second = await caller.post<Category>('/categories', { name: 'Birds' });
      expect(second.status).toBe(201);
      expect(second.body.id).toBeGreaterThan(first.body.id);
    });
  });

  describe('400', () => {
    test.each([
      ['no name', { description: 'x' }, 'name is required'],
      ['an empty name', { name: '' }, 'name must be 1 to 200 characters'],
      ['a name of 201 characters', { name: 'a'.repeat(201) }, 'name must be'],
      ['a name of 201 characters beyond the BMP', { name: '🐕'.repeat(201) }, 'name must be'],
      ['a name of white space', { name: ' \t\u3000' }, 'at least one of them not white space'],
      ['a name with NUL', { name: 'Do\0gs' }, 'without NUL'],
      ['a name with an unpaired surrogate', '{"name": "Dogs\\ud83d"}', 'name must be'],
      ['a number as name', { name: 1 }, 'name must be'],
      ['null as name', { name: null }, 'name must be'],
      [
        'a description of 2,001 characters',
        { name: 'a', description: 'a'.repeat(2_001) },
        'description must',
      ],
      ['null as description', { name: 'a', description: null }, 'description must be'],
      ['a description with NUL', { name: 'a', description: '\0' }, 'description must be'],
      ['an id, which the service assigns', { id: 1, name: 'a' }, '"id" is not allowed here'],
      ['an unknown field', { name: 'a', colour: 'red' }, '"colour" is not allowed here'],
      ['a field that objects inherit', { name: 'a', toString: 1 }, '"toString" is not allowed here'],
      ['an array', [{ name: 'a' }], 'must be a JSON object'],
      ['null', 'null', 'must be a JSON object'],
      ['no body', undefined, 'needs a body'],
      ['the deepest nesting', `{"name": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'name must be'],
    ])('rejects %s', async (_what, body, hint) => {
      const answer = await caller.post<ErrorBody>('/categories', body);
      expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(answer.body.message).toContain(hint);
    });

    it('creates nothing', async () => {
      const count = () => service.database.pool.query(`SELECT count(*) FROM categories`);
      const before = (await count()).rows as unknown;
      await caller.post('/categories', { name: '' });
      expect((await count()).rows).toEqual(before);
    });
  });

  it('401 and 403: creates nothing without a key, or without the scope write', async () => {
    const reader = await service.caller({ scopes: ['read'] });
    const body = { name: 'Nobody' };
    expect((await service.anonymous().post<ErrorBody>('/categories', body)).body.code).toBe(
      'missing_api_key',
    );
    expect((await reader.post<ErrorBody>('/categories', body)).body.code).toBe('insufficient_scope');
    expect((await caller.get('/categories?name=nobody')).body).toEqual([]);
  });

  it('415: rejects a merge patch', async () => {
    const patcher = caller.with({ 'Content-Type': 'application/merge-patch+json' });
    const { body } = await patcher.post<ErrorBody>('/categories', { name: 'a' });
    expect(body).toMatchObject({ code: 'unsupported_media_type', status: 415 });
  });
});
