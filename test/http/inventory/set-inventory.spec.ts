import type { ErrorBody } from '../../support/api-client';
import { type InventoryItem, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('PUT /store/inventory/{petId}', () => {
  const { caller, arrange } = useStore();

  const builders = { available: aPet(), pending: aPet().pending(), sold: aPet().sold() };

  it.each([
    ['available', 5, 'available'],
    ['pending', 1, 'available'],
    ['sold', 2_147_483_647, 'available'],
    ['available', 0, 'available'],
    ['pending', 0, 'pending'],
    ['sold', 0, 'sold'],
  ] as const)('200: a pet that is %s, set to %i, is %s', async (before, quantity, after) => {
    const { id } = await arrange.pet(builders[before]);
    const answer = await caller.put<InventoryItem>(`/store/inventory/${id}`, { quantity });
    expect(answer).toMatchObject({ status: 200, body: { petId: id, quantity, status: after } });
    const read = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
    expect((await caller.get(`/pets?id=${id}`)).body).toMatchObject([{ id, status: after }]);
  });

  it('200: does not affect orders that have already taken their units', async () => {
    const { id } = await arrange.pet(aPet(), 3);
    const order = await arrange.order(id, { quantity: 3 });
    await caller.put(`/store/inventory/${id}`, { quantity: 10 });
    await caller.delete(`/store/orders/${order.id}`);
    const { body } = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    expect(body).toEqual({ petId: id, quantity: 13, status: 'available' });
  });

  it.each([
    ['{}', 'quantity'],
    ['{"quantity":null}', 'quantity'],
    ['{"quantity":-1}', 'quantity'],
    ['{"quantity":1.5}', 'quantity'],
    ['{"quantity":"1"}', 'quantity'],
    ['{"quantity":true}', 'quantity'],
    ['{"quantity":1e400}', 'quantity'],
    ['{"quantity":2147483648}', 'quantity'],
    ['{"quantity":1,"status":"sold"}', 'status'],
    ['{"quantity":1,"petId":1}', 'petId'],
    ['[]', 'object'],
  ])('400: %s is rejected, names %s and changes nothing', async (body, name) => {
    const { id } = await arrange.pet();
    const answer = await caller.put<ErrorBody>(`/store/inventory/${id}`, body);
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain(name);
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 1 });
  });

  it('400: rejects a query parameter', async () => {
    const { id } = await arrange.pet();
    const answer = await caller.put<ErrorBody>(`/store/inventory/${id}?force=true`, { quantity: 9 });
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('404: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 999_999]) {
      const answer = await caller.put(`/store/inventory/${petId}`, { quantity: 5 });
      expect(answer.body).toMatchObject({ code: 'pet_not_found', status: 404 });
    }
  });

  it('412: a stale ETag changes nothing; a fresh one and * succeed', async () => {
    const { id } = await arrange.pet();
    const stale = (await caller.get(`/store/inventory/${id}`)).headers.get('etag')!;
    const set = (tag: string, quantity: number) =>
      caller.with({ 'If-Match': tag }).put<InventoryItem>(`/store/inventory/${id}`, { quantity });
    const first = await set(stale, 4);
    expect(first.status).toBe(200);
    const refused = await set(stale, 5);
    expect(refused.body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 4 });
    expect((await set(first.headers.get('etag')!, 6)).body.quantity).toBe(6);
    expect((await set('*', 7)).body.quantity).toBe(7);
  });
});
