import { type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('GET /store/orders/{orderId}', () => {
  const { caller, arrange } = useStore();

  it('200: returns the order as it was placed', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const order = await arrange.order(petId, { quantity: 3, shipDate: '2026-12-01T08:00:00.000Z' });
    const answer = await caller.get<Order>(`/store/orders/${order.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: order.id,
      petId,
      quantity: 3,
      shipDate: '2026-12-01T08:00:00.000Z',
      complete: false,
    });
    expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  });

  it('200: a complete order outlives its pet', async () => {
    const { id: petId } = await arrange.pet();
    const order = await arrange.order(petId, { complete: true });
    expect((await caller.delete(`/pets/${petId}`)).status).toBe(204);
    expect((await caller.get<Order>(`/store/orders/${order.id}`)).body).toEqual(order);
  });

  it('200: answers HEAD with the header fields of GET and no body', async () => {
    const { id } = await arrange.order((await arrange.pet()).id);
    const got = await caller.get(`/store/orders/${id}`);
    const head = await caller.send('HEAD', `/store/orders/${id}`);
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.get('etag')).toBe(got.headers.get('etag'));
  });

  it('304: returns no body for a current ETag, and the order after a change', async () => {
    const { id } = await arrange.order((await arrange.pet()).id);
    const tag = (await caller.get(`/store/orders/${id}`)).headers.get('etag')!;
    const holder = caller.with({ 'If-None-Match': `"other", W/${tag}` });
    expect(await holder.get(`/store/orders/${id}`)).toMatchObject({ status: 304, text: '' });
    await caller.patch(`/store/orders/${id}`, { complete: true });
    expect(await holder.get(`/store/orders/${id}`)).toMatchObject({ status: 200, body: { complete: true } });
  });

  it('404: an order that never existed, and a cancelled one', async () => {
    const { id } = await arrange.order((await arrange.pet()).id);
    await caller.delete(`/store/orders/${id}`);
    for (const orderId of [id, 9_007_199_254_740_991]) {
      const answer = await caller.get(`/store/orders/${orderId}`);
      expect(answer.body).toMatchObject({ code: 'order_not_found', status: 404 });
    }
  });

  it.each(['0', '-1', '1.0', 'x', '9007199254740992'])('400: %s is not an orderId', async (orderId) => {
    const answer = await caller.get(`/store/orders/${orderId}`);
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
  });
});
