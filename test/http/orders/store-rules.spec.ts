import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

/** The rules of the store, a sentence at a time: what orders do to the stock and to the pet's status. */
describe('the store', () => {
  const { service, caller, arrange } = useStore();

  const complete = (id: number) => caller.patch<Order>(`/store/orders/${id}`, { complete: true });
  const cancel = (id: number) => caller.delete(`/store/orders/${id}`);
  const petWith = async (stock: number) => (await arrange.pet(aPet(), stock)).id;
  const expectStock = async (petId: number, quantity: number, status: string) => {
    const { body } = await caller.get<InventoryItem>(`/store/inventory/${petId}`);
    expect(body).toEqual({ petId, quantity, status });
  };

  it('a pet becomes pending only when an order takes its last unit', async () => {
    const petId = await petWith(3);
    await arrange.order(petId, { quantity: 2 });
    await expectStock(petId, 1, 'available');
    await arrange.order(petId);
    await expectStock(petId, 0, 'pending');
  });

  it('a pet is sold when its last open order is completed and no stock is left', async () => {
    const petId = await petWith(2);
    const [first, second] = [await arrange.order(petId), await arrange.order(petId)];
    await complete(first.id);
    await expectStock(petId, 0, 'pending');
    await complete(second.id);
    await expectStock(petId, 0, 'sold');
  });

  it('a pet is not sold while stock is left', async () => {
    const petId = await petWith(2);
    await complete((await arrange.order(petId)).id);
    await expectStock(petId, 1, 'available');
  });

  it('an order placed complete takes the stock and sells the pet in one step', async () => {
    const petId = await petWith(1);
    await arrange.order(petId, { complete: true });
    await expectStock(petId, 0, 'sold');
  });

  it('an order placed complete leaves the pet pending while another order is open', async () => {
    const petId = await petWith(2);
    const open = await arrange.order(petId);
    await arrange.order(petId, { complete: true });
    await expectStock(petId, 0, 'pending');
    await complete(open.id);
    await expectStock(petId, 0, 'sold');
  });

  it('a cancelled order makes a pending pet available again', async () => {
    const petId = await petWith(1);
    await cancel((await arrange.order(petId)).id);
    await expectStock(petId, 1, 'available');
    await arrange.order(petId);
    await expectStock(petId, 0, 'pending');
  });

  it('a cancelled order of a pet that was manually sold returns its units and leaves it sold', async () => {
    const petId = await petWith(2);
    const order = await arrange.order(petId);
    await caller.patch(`/pets/${petId}`, { status: 'sold' });
    await cancel(order.id);
    await expectStock(petId, 2, 'sold');
  });

  it('completing an order again or changing its ship date sells nothing', async () => {
    const petId = await petWith(1);
    const order = await arrange.order(petId, { complete: true });
    await caller.patch(`/pets/${petId}`, { status: 'available' });
    await complete(order.id);
    await caller.patch(`/store/orders/${order.id}`, { shipDate: '2026-12-01T00:00:00Z' });
    await expectStock(petId, 0, 'available');
  });

  it.each([
    ['PUT', '', { quantity: 1 }],
    ['POST', '/adjustments', { delta: 1 }],
  ])('restocking by %s %s makes a sold pet available', async (method, path, body) => {
    const petId = await petWith(1);
    await arrange.order(petId, { complete: true });
    await caller.send(method, `/store/inventory/${petId}${path}`, body);
    await expectStock(petId, 1, 'available');
  });

  it('completing a waiting order does not sell a restocked pet', async () => {
    const petId = await petWith(1);
    const order = await arrange.order(petId);
    await caller.post(`/store/inventory/${petId}/adjustments`, { delta: 1 });
    await complete(order.id);
    await expectStock(petId, 1, 'available');
  });

  it('a manual status change leaves the stock unchanged', async () => {
    const petId = await petWith(4);
    for (const status of ['pending', 'sold', 'available']) {
      await caller.patch(`/pets/${petId}`, { status });
      await expectStock(petId, 4, status);
    }
  });

  it('a pet with open orders cannot be deleted; without them it can, and its row stays', async () => {
    const petId = await petWith(3);
    const [open, cancelled] = [await arrange.order(petId), await arrange.order(petId)];
    await cancel(cancelled.id);
    const refused = await caller.delete(`/pets/${petId}`);
    expect(refused.body).toMatchObject({ code: 'pet_has_open_orders', status: 409 });
    await complete(open.id);
    expect((await caller.delete(`/pets/${petId}`)).status).toBe(204);
    expect((await caller.get(`/store/inventory/${petId}`)).status).toBe(404);
    const { rows } = await service.database.pool.query(
      `SELECT deleted_at IS NOT NULL AS deleted, inventory.quantity FROM pets
       JOIN inventory ON pet_id = id WHERE id = $1`,
      [petId],
    );
    expect(rows).toEqual([{ deleted: true, quantity: 2 }]);
  });
});
