import type { ErrorBody } from '../../support/api-client';
import { useStore } from '../../support/use-service';

describe('DELETE /pets/{petId}', () => {
  const { service, caller, arrange } = useStore();

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

    it('deletes a pet whose orders are complete or cancelled', async () => {
      const { id } = await arrange.pet(undefined, 5);
      await arrange.order(id, { complete: true });
      const cancelled = await arrange.order(id);
      await caller.delete(`/store/orders/${cancelled.id}`);
      expect((await caller.delete(`/pets/${id}`)).status).toBe(204);
    });

    it('succeeds exactly once for concurrent requests', async () => {
      const { id } = await arrange.pet();
      const answers = await Promise.all(Array.from({ length: 5 }, () => caller.delete(`/pets/${id}`)));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404]);
    });
  });

  test.each(['0', 'x', '1.5'])('400: rejects the id %s', async (id) => {
    const { body } = await caller.delete<ErrorBody>(`/pets/${id}`);
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('403: deletes nothing without the scope write', async () => {
    const { id } = await arrange.pet();
    const reader = await service.caller({ scopes: ['read'] });
    expect((await reader.delete<ErrorBody>(`/pets/${id}`)).body.code).toBe('insufficient_scope');
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
  });

  it('409: keeps a pet with an open order', async () => {
    const { id } = await arrange.pet();
    await arrange.order(id);
    const { body } = await caller.delete<ErrorBody>(`/pets/${id}`);
    expect(body).toMatchObject({ code: 'pet_has_open_orders', status: 409 });
    expect(body.message).toContain(`/store/orders?petId=${id}&complete=false`);
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
  });

  it('412: keeps a pet that has changed', async () => {
    const { id } = await arrange.pet();
    const { headers } = await caller.get(`/pets/${id}`);
    await caller.patch(`/pets/${id}`, { name: 'Max' });
    const holder = caller.with({ 'If-Match': headers.get('etag')! });
    const { body } = await holder.delete<ErrorBody>(`/pets/${id}`);
    expect(body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get(`/pets/${id}`)).status).toBe(200);
  });
});
