import type { ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, type Pet, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('POST /pets', () => {
  const { service, caller } = useStore();
  let categoryId: number;

  beforeAll(async () => {
    categoryId = (await new Arrange(caller).category()).id;
  });

  describe('201', () => {
    test.each([
      ['available', undefined, 1],
      ['available', 'available', 1],
      ['pending', 'pending', 1],
      ['sold', 'sold', 0],
    ])('creates a pet that is %s when status is %p, with %i in stock', async (status, sent, quantity) => {
      const body = { name: 'Rex', categoryId, ...(sent ? { status: sent } : {}) };
      const created = await caller.post<Pet>('/pets', body);
      expect(created.status).toBe(201);
      expect(created.body).toEqual({ id: expect.any(Number), name: 'Rex', categoryId, status });
      const item = await caller.get<InventoryItem>(`/store/inventory/${created.body.id}`);
      expect(item.body).toEqual({ petId: created.body.id, quantity, status });
    });

    it('returns the Location and ETag of the pet', async () => {
      const created = await caller.post<Pet>('/pets', aPet().inCategory(categoryId).build());
      const location = created.headers.get('location')!;
      expect(location).toBe(`/pets/${created.body.id}`);
      const found = await caller.get(location);
      expect(found.text).toBe(created.text);
      expect(found.headers.get('etag')).toBe(created.headers.get('etag'));
    });

    it('gives concurrently created pets different ids', async () => {
      const bodies = Array.from({ length: 20 }, (_, index) => ({ name: `Pup ${index}`, categoryId }));
      const answers = await Promise.all(bodies.map((body) => caller.post<Pet>('/pets', body)));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(20);
      expect(answers.map(({ body }) => body.name)).toEqual(bodies.map(({ name }) => name));
    });
  });

  it('401 and 403: creates nothing without a key, or without the scope write', async () => {
    const reader = await service.caller({ scopes: ['read'] });
    const body = { name: 'Nobody', categoryId };
    expect((await service.anonymous().post<ErrorBody>('/pets', body)).body.code).toBe('missing_api_key');
    expect((await reader.post<ErrorBody>('/pets', body)).body.code).toBe('insufficient_scope');
    expect((await caller.get('/pets?name=nobody')).body).toEqual([]);
  });

  it('415: rejects a merge patch', async () => {
    const patcher = caller.with({ 'Content-Type': 'application/merge-patch+json' });
    const { body } = await patcher.post<ErrorBody>('/pets', { name: 'Rex', categoryId });
    expect(body).toMatchObject({ code: 'unsupported_media_type', status: 415 });
  });

  describe('422 unknown_category', () => {
    test.each([4_711, Number.MAX_SAFE_INTEGER])(
      'rejects category %p, which does not exist',
      async (unknown) => {
        const { body } = await caller.post<ErrorBody>('/pets', aPet().inCategory(unknown).build());
        expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
        expect(body.message).toContain(`There is no category ${unknown}`);
      },
    );

    it('creates neither a pet nor stock', async () => {
      const count = () =>
        service.database.pool.query(`SELECT count(*) FROM pets UNION ALL SELECT count(*) FROM inventory`);
      const before = (await count()).rows as unknown;
      await caller.post('/pets', aPet().inCategory(4_711).build());
      expect((await count()).rows).toEqual(before);
    });
  });
});
