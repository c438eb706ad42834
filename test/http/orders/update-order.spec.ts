import type { ErrorBody } from '../../support/api-client';
import { type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const { service, caller, arrange } = useStore();

describe('PATCH /store/orders/{orderId}', () => {
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

  it.each([
    ['{"complete":null}', 'complete'],
    ['{"complete":"true"}', 'complete'],
    ['{"complete":1}', 'complete'],
    ['{"shipDate":"soon"}', 'shipDate'],
    ['{"quantity":2}', 'quantity'],
    ['{"petId":1}', 'petId'],
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
});

/** The same values whether a date comes with a new order or with a change of one, and what PostgreSQL keeps of them. */
const VALID = [
  ['2026-11-21t09:30:00.1239999999+05:30', '2026-11-21T04:00:00.123Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['1883-11-18T12:03:57Z', '1883-11-18T12:03:57.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
] as const;

describe('shipDate', () => {
  let petId: number;

  beforeAll(async () => {
    petId = (await arrange.pet(aPet(), 1_000)).id;
  });

  it.each(VALID)('%s is accepted, and returned as %s', async (sent, answered) => {
    const placed = await caller.post<Order>('/store/orders', { petId, shipDate: sent });
    expect(placed).toMatchObject({ status: 201, body: { shipDate: answered } });
    const read = await caller.get<Order>(`/store/orders/${placed.body.id}`);
    expect(read.body.shipDate).toBe(answered);

    const { id } = await arrange.order(petId);
    const changed = await caller.patch<Order>(`/store/orders/${id}`, { shipDate: sent });
    expect(changed).toMatchObject({ status: 200, body: { shipDate: answered } });
    expect((await caller.get<Order>(`/store/orders/${id}`)).text).toBe(changed.text);
  });

  it.each(['2026-11-21', 1_795_253_400])('%j is rejected', async (shipDate) => {
    const { id } = await arrange.order(petId);
    const answers = [
      await caller.post<ErrorBody>('/store/orders', { petId, shipDate }),
      await caller.patch<ErrorBody>(`/store/orders/${id}`, { shipDate }),
    ];
    for (const { body } of answers) {
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(body.message).toContain('shipDate must be a date and time with an offset');
    }
  });

  it('is removed by null in a patch, kept by a patch without it, and then omitted from the response', async () => {
    const { id } = await arrange.order(petId, { shipDate: '2026-12-01T00:00:00Z' });
    const kept = await caller.patch<Order>(`/store/orders/${id}`, { complete: false });
    expect(kept.body.shipDate).toBe('2026-12-01T00:00:00.000Z');
    const removed = await caller.patch<Order>(`/store/orders/${id}`, { shipDate: null });
    expect(removed.status).toBe(200);
    expect(removed.body).toEqual({ id, petId, quantity: 1, complete: false });
    expect((await caller.get<Order>(`/store/orders/${id}`)).text).toBe(removed.text);
  });

  it('is stored in UTC, whatever the time zone of the machine', async () => {
    // The offset that JavaScript tells of Vienna before 1893, cut to whole minutes.
    const date = Object.assign(new Date('1883-11-18T12:03:57Z'), { getTimezoneOffset: () => -65 });
    const { rows } = await service.database.pool.query('SELECT $1::text AS sent', [date]);
    expect(rows).toEqual([{ sent: '1883-11-18T12:03:57.000+00:00' }]);
  });
});
