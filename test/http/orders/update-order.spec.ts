import type { ErrorBody } from '../../support/api-client';
import { type Order } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('PATCH /store/orders/{orderId}', () => {
  const { caller, arrange } = useStore();

  const anOrder = async (fields: Partial<Order> = {}) => arrange.order((await arrange.pet()).id, fields);
  const patch = (id: number, body: object | string) => caller.patch<Order>(`/store/orders/${id}`, body);

  it.each([
    [{}, {}],
    [{ complete: false }, {}],
    [{ complete: true }, { complete: true }],
    [{ shipDate: '2026-12-01T01:00:00+01:00' }, { shipDate: '2026-12-01T00:00:00.000Z' }],
    [
      { complete: true, shipDate: '2026-12-01T00:00:00Z' },
      { complete: true, shipDate: '2026-12-01T00:00:00.000Z' },
    ],
  ])('200: %j changes only the given fields', async (body, changes) => {
    const order = await anOrder();
    const answer = await patch(order.id, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...order, ...changes });
    const read = await caller.get<Order>(`/store/orders/${order.id}`);
    expect(read.text).toBe(answer.text);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
  });

  it('200: a complete order may be completed again, and its ship date changed', async () => {
    const order = await anOrder({ complete: true });
    expect((await patch(order.id, { complete: true })).body).toEqual(order);
    const shipped = await patch(order.id, { shipDate: '2026-12-01T00:00:00.000Z' });
    expect(shipped.body).toEqual({ ...order, shipDate: '2026-12-01T00:00:00.000Z' });
  });

  it('200: the ship date of a complete order can be set after its pet was deleted', async () => {
    const order = await anOrder({ complete: true });
    await caller.delete(`/pets/${order.petId}`);
    const answer = await patch(order.id, { shipDate: '2026-12-01T00:00:00.000Z' });
    expect(answer).toMatchObject({ status: 200, body: { shipDate: '2026-12-01T00:00:00.000Z' } });
  });

  it('200: accepts the media type of JSON Merge Patch', async () => {
    const order = await anOrder();
    const merging = caller.with({ 'Content-Type': 'application/merge-patch+json' });
    const answer = await merging.patch<Order>(`/store/orders/${order.id}`, { complete: true });
    expect(answer).toMatchObject({ status: 200, body: { complete: true } });
  });

  it.each([
    ['{"complete":null}', 'complete'],
    ['{"complete":"true"}', 'complete'],
    ['{"complete":1}', 'complete'],
    ['{"shipDate":"soon"}', 'shipDate'],
    ['{"quantity":2}', 'quantity'],
    ['{"petId":1}', 'petId'],
    ['{"id":1}', 'id'],
    ['{"complete":true,"status":"sold"}', 'status'],
    ['null', 'object'],
    ['', 'body'],
  ])('400: %j is rejected, names %s and changes nothing', async (body, name) => {
    const order = await anOrder();
    const answer = (await patch(order.id, body)) as unknown as { body: ErrorBody };
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain(name);
    expect((await caller.get(`/store/orders/${order.id}`)).body).toEqual(order);
  });

  it('404: an order that never existed, and a cancelled one', async () => {
    const { id } = await anOrder();
    await caller.delete(`/store/orders/${id}`);
    for (const orderId of [id, 999_999]) {
      const answer = await patch(orderId, { complete: true });
      expect(answer.body).toMatchObject({ code: 'order_not_found', status: 404 });
    }
  });

  it.each([{ complete: false }, { complete: false, shipDate: null }])(
    '409: a complete order is not reopened by %j, and nothing changes',
    async (body) => {
      const order = await anOrder({ complete: true, shipDate: '2026-12-01T00:00:00.000Z' });
      const answer = await patch(order.id, body);
      expect(answer.body).toMatchObject({ code: 'order_already_complete', status: 409 });
      expect((await caller.get(`/store/orders/${order.id}`)).body).toEqual(order);
    },
  );

  it('412: a stale ETag changes nothing; a fresh one and * succeed', async () => {
    const { id } = await anOrder();
    const stale = (await caller.get(`/store/orders/${id}`)).headers.get('etag')!;
    const send = (tag: string, body: object) =>
      caller.with({ 'If-Match': tag }).patch<Order>(`/store/orders/${id}`, body);
    const first = await send(stale, { shipDate: '2026-12-01T00:00:00Z' });
    expect(first.status).toBe(200);
    const refused = await send(stale, { complete: true });
    expect(refused.body).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect((await caller.get(`/store/orders/${id}`)).text).toBe(first.text);
    expect((await send(first.headers.get('etag')!, { shipDate: null })).status).toBe(200);
    expect((await send('*', { complete: true })).body.complete).toBe(true);
  });
});
