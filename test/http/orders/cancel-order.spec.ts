import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('DELETE /store/orders/{orderId}', () => {
  const { service, caller, arrange } = useStore();

  const cancel = (id: number) => caller.delete(`/store/orders/${id}`);
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  it('204: returns the units and an empty body', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const order = await arrange.order(petId, { quantity: 3 });
    expect(await cancel(order.id)).toMatchObject({ status: 204, text: '' });
    expect(await inventory(petId)).toEqual({ petId, quantity: 5, status: 'available' });
  });

  it('204: keeps the order in the database, for the books', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    await cancel(id);
    const { rows } = await service.database.pool.query(
      `SELECT pet_id, quantity, complete, cancelled_at IS NOT NULL AS cancelled FROM orders WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ pet_id: String(petId), quantity: 1, complete: false, cancelled: true }]);
  });

  it('204: a stock at the maximum stays there', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    await caller.put(`/store/inventory/${petId}`, { quantity: 2_147_483_647 });
    expect((await cancel(id)).status).toBe(204);
    expect(await inventory(petId)).toMatchObject({ quantity: 2_147_483_647 });
  });

  it('400: an invalid id', async () => {
    const answer = await caller.delete('/store/orders/first');
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
  });

  it('404: an order that never existed, and a cancelled one, which returns no units again', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    await cancel(id);
    for (const orderId of [id, 999_999]) {
      expect((await cancel(orderId)).body).toMatchObject({ code: 'order_not_found', status: 404 });
    }
    expect(await inventory(petId)).toMatchObject({ quantity: 1 });
  });

  it('409: a complete order stays, and returns no units', async () => {
    const { id: petId } = await arrange.pet(aPet(), 2);
    const order = await arrange.order(petId, { complete: true });
    expect((await cancel(order.id)).body).toMatchObject({ code: 'order_already_complete', status: 409 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 1, status: 'available' });
    expect((await caller.get<Order>(`/store/orders/${order.id}`)).body).toEqual(order);
  });

  it('412: a stale ETag cancels nothing; a fresh one succeeds', async () => {
    const { id } = await arrange.order((await arrange.pet()).id);
    const stale = (await caller.get(`/store/orders/${id}`)).headers.get('etag')!;
    const changed = await caller.patch(`/store/orders/${id}`, { shipDate: '2026-12-01T00:00:00Z' });
    const refused = await caller.with({ 'If-Match': stale }).delete(`/store/orders/${id}`);
    expect(refused.body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get(`/store/orders/${id}`)).status).toBe(200);
    const fresh = changed.headers.get('etag')!;
    expect((await caller.with({ 'If-Match': fresh }).delete(`/store/orders/${id}`)).status).toBe(204);
  });
});
