import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type Category } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('PUT /categories/{categoryId}', () => {
  let service: TestService;
  let caller: ApiClient;
  let target: string;

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
  });
  beforeEach(async () => {
    const { id } = await new Arrange(caller).category('Dogs');
    target = `/categories/${id}`;
  });
  afterAll(() => service.close());

  describe('200', () => {
    it('sets name and description, and keeps the id', async () => {
      const before = await caller.get<Category>(target);
      const { status, body } = await caller.put<Category>(target, { name: 'Cats', description: 'Aloof.' });
      expect(status).toBe(200);
      expect(body).toEqual({ id: before.body.id, name: 'Cats', description: 'Aloof.' });
    });

    it('removes an omitted description', async () => {
      await caller.put(target, { name: 'Cats', description: 'Aloof.' });
      expect((await caller.put<Category>(target, { name: 'Cats' })).body).not.toHaveProperty('description');
      expect((await caller.get<Category>(target)).body).not.toHaveProperty('description');
    });

    it('returns what the next GET returns, with its ETag', async () => {
      const replaced = await caller.put(target, { name: 'Cats' });
      const got = await caller.get(target);
      expect(replaced.text).toBe(got.text);
      expect(replaced.headers.get('etag')).toBe(got.headers.get('etag'));
    });

    it('changes the ETag only when something has changed', async () => {
      const tags = [];
      for (const name of ['Dogs', 'Cats', 'Dogs']) {
        tags.push((await caller.put(target, { name })).headers.get('etag'));
      }
      expect(tags[1]).not.toBe(tags[0]);
      expect(tags[2]).toBe(tags[0]);
    });
  });

  test.each([
    ['no name', { description: 'x' }],
    ['a blank name', { name: ' ' }],
    ['an id', { id: 1, name: 'Cats' }],
    ['a description that is null', { name: 'Cats', description: null }],
    ['no body', undefined],
  ])('400: rejects %s and changes nothing', async (_what, body) => {
    const { body: error } = await caller.put<ErrorBody>(target, body);
    expect(error).toMatchObject({ code: 'validation_failed', status: 400 });
    expect((await caller.get<Category>(target)).body.name).toBe('Dogs');
  });

  it('404: does not create a missing category', async () => {
    const { body } = await caller.put<ErrorBody>('/categories/4711', { name: 'Cats' });
    expect(body).toMatchObject({ code: 'category_not_found', status: 404 });
  });

  describe('412', () => {
    it('rejects a change based on an outdated ETag', async () => {
      const { headers } = await caller.get(target);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      expect((await holder.put(target, { name: 'Cats' })).status).toBe(200);
      const stale = await holder.put<ErrorBody>(target, { name: 'Birds' });
      expect(stale.body).toMatchObject({ code: 'precondition_failed', status: 412 });
      expect((await caller.get<Category>(target)).body.name).toBe('Cats');
    });

    it('accepts exactly one of ten changes with the same ETag', async () => {
      const { headers } = await caller.get(target);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      const names = Array.from({ length: 10 }, (_, index) => `Cats ${index}`);
      const answers = await Promise.all(names.map((name) => holder.put<Category>(target, { name })));
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
      expect((await caller.get(target)).text).toBe(winners[0]!.text);
    });
  });
});
