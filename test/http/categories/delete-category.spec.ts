import type { ErrorBody } from '../../support/api-client';
import { aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('DELETE /categories/{categoryId}', () => {
  const { service, caller, arrange } = useStore();

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

    it('deletes a category whose ETag matches If-Match', async () => {
      const { id } = await arrange.category();
      const { headers } = await caller.get(`/categories/${id}`);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      expect((await holder.delete(`/categories/${id}`)).status).toBe(204);
    });
  });

  it('400: rejects an invalid id', async () => {
    const { body } = await caller.delete<ErrorBody>('/categories/0');
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
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

  it('412: keeps a category that has changed', async () => {
    const { id } = await arrange.category();
    const { headers } = await caller.get(`/categories/${id}`);
    await caller.put(`/categories/${id}`, { name: 'Cats' });
    const holder = caller.with({ 'If-Match': headers.get('etag')! });
    const { body } = await holder.delete<ErrorBody>(`/categories/${id}`);
    expect(body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get(`/categories/${id}`)).status).toBe(200);
  });
});
