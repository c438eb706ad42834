import type { ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, type Pet, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const { service, caller, arrange } = useStore();

describe('POST /pets', () => {
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

    it('gives concurrently created pets different ids', async () => {
      const bodies = Array.from({ length: 20 }, (_, index) => ({ name: `Pup ${index}`, categoryId }));
      const answers = await Promise.all(bodies.map((body) => caller.post<Pet>('/pets', body)));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(20);
      expect(answers.map(({ body }) => body.name)).toEqual(bodies.map(({ name }) => name));
    });
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

describe('PUT /pets/{petId}', () => {
  let pet: Pet;
  let target: string;
  let body: { name: string; categoryId: number };

  beforeEach(async () => {
    pet = await arrange.pet(aPet().pending());
    target = `/pets/${pet.id}`;
    body = { name: 'Max', categoryId: pet.categoryId };
  });
  describe('200', () => {
    it('sets every field, and keeps the id', async () => {
      const { id: categoryId } = await arrange.category();
      const answer = await caller.put<Pet>(target, { name: 'Max', categoryId, status: 'sold' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ id: pet.id, name: 'Max', categoryId, status: 'sold' });
    });

    test.each([
      ['available', aPet()],
      ['pending', aPet().pending()],
      ['sold', aPet().sold()],
    ])('leaves an omitted status as it is: for a pet that is %s', async (status, builder) => {
      const { id, categoryId } = await arrange.pet(builder);
      const { body: replaced } = await caller.put<Pet>(`/pets/${id}`, { name: 'Max', categoryId });
      expect(replaced.status).toBe(status);
    });
  });

  describe('412', () => {
    it('rejects a change of a pet whose status an order has changed', async () => {
      const ordered = await arrange.pet();
      const { headers } = await caller.get(`/pets/${ordered.id}`);
      await arrange.order(ordered.id);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      expect((await holder.put(`/pets/${ordered.id}`, body)).status).toBe(412);
    });
  });

  it('422: rejects a category that does not exist and changes nothing', async () => {
    const { body: error } = await caller.put<ErrorBody>(target, { ...body, categoryId: 4_711 });
    expect(error).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(target)).body).toEqual(pet);
  });
});

describe('DELETE /pets/{petId}', () => {
  describe('204', () => {
    it('removes the pet from every operation', async () => {
      const { id, categoryId } = await arrange.pet();
      const { status, text } = await caller.delete(`/pets/${id}`);
      expect([status, text]).toEqual([204, '']);
      const gone = [
        await caller.get<ErrorBody>(`/pets/${id}`),
        await caller.put<ErrorBody>(`/pets/${id}`, { name: 'Max', categoryId }),
        await caller.patch<ErrorBody>(`/pets/${id}`, { name: 'Max' }),
        await caller.delete<ErrorBody>(`/pets/${id}`),
        await caller.get<ErrorBody>(`/store/inventory/${id}`),
      ];
      expect(gone.map(({ body }) => body.code)).toEqual(Array(5).fill('pet_not_found'));
    });

    it('removes it from every list', async () => {
      const { id, categoryId } = await arrange.pet();
      await caller.delete(`/pets/${id}`);
      for (const list of [`/pets?id=${id}`, `/pets?categoryId=${categoryId}`]) {
        expect((await caller.get(list)).body).toEqual([]);
      }
      const { body } = await caller.get<{ petId: number }[]>('/store/inventory?limit=100');
      expect(body.map(({ petId }) => petId)).not.toContain(id);
    });

    it('keeps the row in the database for the books', async () => {
      const { id, name, categoryId, status } = await arrange.pet();
      await caller.delete(`/pets/${id}`);
      const { rows } = await service.database.pool.query(
        `SELECT name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = ${id}`,
      );
      expect(rows).toEqual([
        {
          name,
          category_id: null,
          former_category_id: String(categoryId),
          status,
          deleted_at: expect.any(Date),
        },
      ]);
    });

    it('never reuses the id', async () => {
      const { id } = await arrange.pet();
      await caller.delete(`/pets/${id}`);
      expect((await arrange.pet()).id).toBeGreaterThan(id);
    });

    it('succeeds exactly once for concurrent requests', async () => {
      const { id } = await arrange.pet();
      const answers = await Promise.all(Array.from({ length: 5 }, () => caller.delete(`/pets/${id}`)));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404]);
    });
  });

  it('409: keeps a pet with an open order', async () => {
    const { id } = await arrange.pet();
    await arrange.order(id);
    const { body } = await caller.delete<ErrorBody>(`/pets/${id}`);
    expect(body).toMatchObject({ code: 'pet_has_open_orders', status: 409 });
    expect(body.message).toContain(`/store/orders?petId=${id}&complete=false`);
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
  });
});

describe('PATCH /pets/{petId}', () => {
  let pet: Pet;
  let target: string;

  beforeEach(async () => {
    pet = await arrange.pet();
    target = `/pets/${pet.id}`;
  });
  describe('200', () => {
    test.each([{}, { name: 'Max' }, { status: 'sold' }, { name: 'Max', status: 'pending' }])(
      'changes what %j names, and leaves the rest unchanged',
      async (patch) => {
        const answer = await caller.patch<Pet>(target, patch);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual({ ...pet, ...patch });
        expect((await caller.get<Pet>(target)).body).toEqual({ ...pet, ...patch });
      },
    );

    it('moves the pet to another category', async () => {
      const { id: categoryId } = await arrange.category();
      expect((await caller.patch<Pet>(target, { categoryId })).body).toEqual({ ...pet, categoryId });
      expect((await caller.get(`/pets?categoryId=${pet.categoryId}`)).body).toEqual([]);
    });

    it('loses none of many concurrent changes to different fields', async () => {
      const { id: categoryId } = await arrange.category();
      await Promise.all([
        caller.patch(target, { name: 'Max' }),
        caller.patch(target, { categoryId }),
        caller.patch(target, { status: 'sold' }),
      ]);
      expect((await caller.get(target)).body).toEqual({
        id: pet.id,
        name: 'Max',
        categoryId,
        status: 'sold',
      });
    });
  });

  describe('a manual status change', () => {
    test.each(['PATCH', 'PUT'])('with %s: a sold pet cannot become pending', async (method) => {
      const { id, name, categoryId } = await arrange.pet(aPet().sold());
      const answer = await caller.send(method, `/pets/${id}`, { name, categoryId, status: 'pending' });
      const message = 'A sold pet cannot become pending.';
      expect(answer.body).toEqual({ code: 'invalid_status_transition', message, status: 409 });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.status).toBe('sold');
    });

    test.each(['PATCH', 'PUT'])('with %s: a pet without stock cannot become available', async (method) => {
      const { id, name, categoryId } = await arrange.pet(aPet().sold());
      const answer = await caller.send(method, `/pets/${id}`, { name, categoryId, status: 'available' });
      const message = 'A pet without stock cannot become available. Set its stock: that makes it available.';
      expect(answer.body).toEqual({ code: 'invalid_status_transition', message, status: 409 });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.status).toBe('sold');
    });

    it('409: a refused change changes no other field either', async () => {
      const { id } = await arrange.pet(aPet().sold());
      await caller.patch(`/pets/${id}`, { name: 'Max', status: 'pending' });
      expect((await caller.get<Pet>(`/pets/${id}`)).body.name).toBe('Rex');
    });
  });

  it('422: rejects a category that does not exist and changes nothing', async () => {
    const { body } = await caller.patch<ErrorBody>(target, { name: 'Max', categoryId: 4_711 });
    expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(target)).body).toEqual(pet);
  });
});

test.each([
  ['200 characters beyond the BMP', '🐕'.repeat(200)],
  ['white space around something', ' Rex\n'],
  ['what SQL and HTML would make something of', `'; DROP TABLE pets; --<b>%_\\`],
])('A name of %s is stored unchanged', async (_what, name) => {
  const { id } = await arrange.pet(aPet().named(name));
  expect((await caller.get<Pet[]>(`/pets?id=${id}`)).body[0]!.name).toBe(name);
});
