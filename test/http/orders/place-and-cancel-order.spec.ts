import type { ErrorBody } from '../../support/api-client';
import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const { service, caller, arrange } = useStore();

const MOST = 2_147_483_647;

describe('POST /store/orders', () => {
  const place = (body: object | string) => caller.post<Order>('/store/orders', body);
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  it('201: needs only a pet; the default is one unit, not complete, without a ship date', async () => {
    const { id: petId } = await arrange.pet(aPet(), 2);
    const answer = await place({ petId });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: expect.any(Number) as number, petId, quantity: 1, complete: false });
    const location = answer.headers.get('location')!;
    expect(location).toBe(`/store/orders/${answer.body.id}`);
    const read = await caller.get<Order>(location);
    expect(read.text).toBe(answer.text);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
  });

  it('201: uses the given values', async () => {
    const { id: petId } = await arrange.pet(aPet(), MOST);
    const body = { petId, quantity: MOST, shipDate: '2026-11-24T09:30:00.000Z', complete: true };
    const answer = await place(body);
    expect(answer).toMatchObject({ status: 201, body });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
  });

  it.each([
    ['{"petId":0}', 'petId'],
    ['{"petId":"<pet>"}', 'petId'],
    ['{"petId":<pet>,"quantity":0}', 'quantity'],
    ['{"petId":<pet>,"quantity":1.5}', 'quantity'],
    ['{"petId":<pet>,"quantity":"1"}', 'quantity'],
    ['{"petId":<pet>,"quantity":null}', 'quantity'],
    ['{"petId":<pet>,"quantity":2147483648}', 'quantity'],
    ['{"petId":<pet>,"complete":"true"}', 'complete'],
    ['{"petId":<pet>,"complete":null}', 'complete'],
    ['{"petId":<pet>,"shipDate":null}', 'shipDate'],
  ])('400: %s is rejected, names %s and takes nothing', async (template, name) => {
    const { id: petId } = await arrange.pet();
    const answer = (await place(template.replace('<pet>', String(petId)))) as unknown as { body: ErrorBody };
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain(name);
    expect(await inventory(petId)).toMatchObject({ quantity: 1, status: 'available' });
  });

  it('422: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 9_007_199_254_740_991]) {
      expect((await place({ petId })).body).toMatchObject({ code: 'unknown_pet', status: 422 });
    }
  });

  it.each([
    ['pending', aPet().pending()],
    ['sold', aPet().sold()],
  ])('409: a %s pet is not available, whatever the quantity', async (status, builder) => {
    const { id: petId } = await arrange.pet(builder);
    for (const quantity of [1, MOST]) {
      const answer = await place({ petId, quantity });
      expect(answer.body).toMatchObject({ code: 'pet_not_available', status: 409 });
    }
    expect(await inventory(petId)).toMatchObject({ status });
  });

  it.each([
    [3, 4],
    [0, 1],
    [1, MOST],
  ])('409: of %i in stock, %i cannot be ordered, and no unit is taken', async (stock, quantity) => {
    const { id: petId } = await arrange.pet(aPet(), stock);
    const answer = await place({ petId, quantity });
    expect(answer.body).toMatchObject({ code: 'insufficient_stock', status: 409 });
    expect(await inventory(petId)).toEqual({ petId, quantity: stock, status: 'available' });
    expect((await caller.get<Order[]>(`/store/orders?petId=${petId}`)).body).toEqual([]);
  });
});

describe('DELETE /store/orders/{orderId}', () => {
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
});
