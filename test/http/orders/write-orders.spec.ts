import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { until } from '../../support/eventually';
import { useStore } from '../../support/use-service';

const { service, caller, arrange } = useStore();
const inventory = async (petId: number) =>
  (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

const MOST = 2_147_483_647;

describe('POST /store/orders', () => {
  const place = (body: object | string) => caller.post<Order>('/store/orders', body);

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

  it('422: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 9_007_199_254_740_991]) {
      expect((await place({ petId })).body).toMatchObject({ code: 'unknown_pet', status: 422 });
    }
  });
});

describe('DELETE /store/orders/{orderId}', () => {
  it('204: keeps the order in the database, for the books', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    await caller.delete(`/store/orders/${id}`);
    const { rows } = await service.database.pool.query(
      `SELECT pet_id, quantity, complete, cancelled_at IS NOT NULL AS cancelled FROM orders WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ pet_id: String(petId), quantity: 1, complete: false, cancelled: true }]);
  });
});

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

  it('409: a complete order stays complete, and is not cancelled; 404: there is no such order', async () => {
    const { id } = await anOrder({ complete: true });
    for (const answer of [await patch(id, { complete: false }), await caller.delete(`/store/orders/${id}`)]) {
      expect([answer.status, answer.body]).toEqual([
        409,
        expect.objectContaining({ code: 'order_already_complete' }),
      ]);
    }
    const unknown = await patch(999_999, { complete: true });
    expect([unknown.status, unknown.body]).toEqual([
      404,
      expect.objectContaining({ code: 'order_not_found' }),
    ]);
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

describe('concurrent requests', () => {
  /** How often each status (and code, of errors) was answered. */
  function tally(answers: { status: number; body: unknown }[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, body } of answers) {
      const code = (body as { code?: string } | undefined)?.code;
      const name = code === undefined ? String(status) : `${status} ${code}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  it('place 50 of 200 orders for 50 units, refuse 150, and leave no stock', async () => {
    const { id: petId } = await arrange.pet(aPet(), 50);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => caller.post<Order>('/store/orders', { petId })),
    );
    expect(tally(answers)).toEqual({ 201: 50, '409 pet_not_available': 150 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'pending' });
    const orders = await caller.get<Order[]>(`/store/orders?petId=${petId}&limit=100`);
    expect(orders.body).toHaveLength(50);
  });

  it('complete an order twice with 200, and sell the pet once', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    const answers = await Promise.all(
      [1, 2].map(() => caller.patch<Order>(`/store/orders/${id}`, { complete: true })),
    );
    expect(tally(answers)).toEqual({ 200: 2 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
  });

  it('complete the last two orders of a pet, and leave it sold', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: petId } = await arrange.pet(aPet(), 2);
      const orders = [await arrange.order(petId), await arrange.order(petId)];
      await Promise.all(orders.map(({ id }) => caller.patch(`/store/orders/${id}`, { complete: true })));
      expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
    }
  });

  it('cancel an order ten times, and return its units once', async () => {
    const { id: petId } = await arrange.pet(aPet(), 3);
    const { id } = await arrange.order(petId, { quantity: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.delete(`/store/orders/${id}`)));
    expect(tally(answers)).toEqual({ 204: 1, '404 order_not_found': 9 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 3, status: 'available' });
  });

  it('complete an order that another instance reschedules, and keep its date', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    const other = await service.database.pool.connect();
    await other.query('BEGIN');
    await other.query(`UPDATE orders SET ship_date = '2099-01-01Z' WHERE id = $1`, [id]);
    const completed = caller.patch<Order>(`/store/orders/${id}`, { complete: true });
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await service.database.pool.query(waiting)).rowCount === 1);
    await other.query('COMMIT');
    other.release();
    expect((await completed).body).toMatchObject({ complete: true, shipDate: '2099-01-01T00:00:00.000Z' });
  });

  it('to complete and to cancel an order: exactly one succeeds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: petId } = await arrange.pet();
      const { id } = await arrange.order(petId);
      const [completed, cancelled] = await Promise.all([
        caller.patch<Order>(`/store/orders/${id}`, { complete: true }),
        caller.delete(`/store/orders/${id}`),
      ]);
      const happened = `${completed.status} ${cancelled.status}`;
      const expected = { '200 409': [0, 'sold'], '404 204': [1, 'available'] }[happened];
      const { quantity, status } = await inventory(petId);
      expect([happened, quantity, status]).toEqual([happened, ...(expected ?? ['one of the two'])]);
    }
  });

  it('to delete a pet and to order it: exactly one succeeds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: petId } = await arrange.pet();
      const race = [
        () => caller.delete(`/pets/${petId}`),
        () => caller.post<Order>('/store/orders', { petId }),
      ];
      // Both orders of sending, so that neither side always wins.
      const answers = await Promise.all((round % 2 === 0 ? race : race.toReversed()).map((send) => send()));
      const statuses = answers.map(({ status }) => status).sort();
      expect([
        [201, 409],
        [204, 422],
      ]).toContainEqual(statuses);
    }
  });
});
