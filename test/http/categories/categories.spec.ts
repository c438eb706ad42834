import { type Category, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';
import type { ErrorBody } from '../../support/api-client';

const { service, caller, arrange } = useStore();

const NAMES = [
  'Wolf',
  'wolfhound',
  'WOLVES',
  '100% wool',
  '100 sheep',
  'a_b',
  'aXb',
  'c\\d',
  'Écureuil',
  'a?b&c=d',
];

describe('GET /categories', () => {
  const namesOf = async (target: string) =>
    (await caller.get<Category[]>(target)).body.map(({ name }) => name);

  beforeAll(async () => {
    for (const name of NAMES) {
      await arrange.category(name);
    }
  });

  test.each([
    ['ignoring case', 'wOl', ['Wolf', 'wolfhound', 'WOLVES']],
    ['ignoring case beyond ASCII', 'éCU', ['Écureuil']],
    ['a literal percent sign', '100%', ['100% wool']],
    ['a literal underscore', 'a_', ['a_b']],
    ['a literal backslash', 'c\\', ['c\\d']],
    ['only a percent sign', '%', []],
    ['not the middle of a name', 'olf', []],
    ['white space', '  ', []],
    ['characters reserved in URLs', 'a?b&c=', ['a?b&c=d']],
    ['a quote', "'", []],
  ])('200: filters names by prefix: %s', async (_what, prefix, names) => {
    expect(await namesOf(`/categories?name=${encodeURIComponent(prefix)}`)).toEqual(names);
  });
});

describe('POST /categories', () => {
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

    it('accepts a name twice, and assigns a larger id', async () => {
      const first = await caller.post<Category>('/categories', { name: 'Birds' });
      const second = await caller.post<Category>('/categories', { name: 'Birds' });
      expect(second.status).toBe(201);
      expect(second.body.id).toBeGreaterThan(first.body.id);
    });
  });
});

describe('PUT /categories/{categoryId}', () => {
  let target: string;

  beforeEach(async () => {
    const { id } = await arrange.category('Dogs');
    target = `/categories/${id}`;
  });
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

    it('changes the ETag only when something has changed', async () => {
      const tags = [];
      for (const name of ['Dogs', 'Cats', 'Dogs']) {
        tags.push((await caller.put(target, { name })).headers.get('etag'));
      }
      expect(tags[1]).not.toBe(tags[0]);
      expect(tags[2]).toBe(tags[0]);
    });
  });
});

describe('DELETE /categories/{categoryId}', () => {
  describe('204', () => {
    it('deletes a category that has no pets', async () => {
      const { id } = await arrange.category();
      const { status, text } = await caller.delete(`/categories/${id}`);
      expect([status, text]).toEqual([204, '']);
      expect((await caller.get<ErrorBody>(`/categories/${id}`)).body.code).toBe('category_not_found');
      expect((await caller.delete<ErrorBody>(`/categories/${id}`)).body.code).toBe('category_not_found');
    });

    it('ignores deleted pets, which keep their category', async () => {
      const pet = await arrange.pet();
      await caller.delete(`/pets/${pet.id}`);
      expect((await caller.delete(`/categories/${pet.categoryId}`)).status).toBe(204);
      const { rows } = await service.database.pool.query(
        `SELECT former_category_id FROM pets WHERE id = ${pet.id}`,
      );
      expect(rows).toEqual([{ former_category_id: String(pet.categoryId) }]);
    });

    it('ignores pets that have moved to another category', async () => {
      const pet = await arrange.pet();
      const { id: categoryId } = await arrange.category();
      await caller.patch(`/pets/${pet.id}`, { categoryId });
      expect((await caller.delete(`/categories/${pet.categoryId}`)).status).toBe(204);
    });
  });

  describe('409 category_in_use', () => {
    test.each([
      ['available', aPet()],
      ['pending', aPet().pending()],
      ['sold', aPet().sold()],
    ])('keeps a category with a pet that is %s', async (_status, builder) => {
      const pet = await arrange.pet(builder);
      const { body } = await caller.delete<ErrorBody>(`/categories/${pet.categoryId}`);
      expect(body).toMatchObject({ code: 'category_in_use', status: 409 });
      expect(body.message).toContain(`/pets?categoryId=${pet.categoryId}`);
      expect((await caller.get(`/categories/${pet.categoryId}`)).status).toBe(200);
    });

    test.each([
      ['is created', 'POST', 201],
      ['moves into it', 'PUT', 200],
    ])('never deletes the category of a pet that %s at the same time', async (_what, method, done) => {
      const { id: petId } = await arrange.pet();
      const target = method === 'POST' ? '/pets' : `/pets/${petId}`;
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { id } = await arrange.category();
          const [written, deleted] = await Promise.all([
            caller.send(method, target, aPet().inCategory(id).build()),
            caller.delete(`/categories/${id}`),
          ]);
          const { body } = await caller.get<{ categoryId: number }[]>(`/pets?categoryId=${id}`);
          const left = (await caller.get(`/categories/${id}`)).status;
          return { answers: `${written.status} ${deleted.status}`, orphans: left === 404 ? body.length : 0 };
        }),
      );
      // Either the pet came first, the deletion did, or the pet had moved on when its deletion was tried.
      const possible = [`${done} 409`, '422 204', ...(method === 'PUT' ? ['200 204'] : [])];
      expect(outcomes.filter(({ answers }) => !possible.includes(answers))).toEqual([]);
      expect(outcomes.filter(({ orphans }) => orphans > 0)).toEqual([]);
    });
  });
});
