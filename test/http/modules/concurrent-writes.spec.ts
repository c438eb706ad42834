import { tally } from '../../support/spread';
import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { until } from '../../support/eventually';
import { useStore } from '../../support/use-service';
import { lockWaits } from '../../support/while-locked';

const { service, caller, arrange } = useStore();
const ROUNDS = 10;

const inventory = async (petId: number) =>
  (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

/** How often each status (and code, of errors) was answered. */
function outcomes(answers: { status: number; body: unknown }[]): Record<string, number> {
  return tally(
    answers.map(({ status, body }) =>
      `${status} ${(body as { code?: string } | undefined)?.code ?? ''}`.trim(),
    ),
  );
}

const atOnce = <Result>(count: number, send: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_none, index) => send(index)));

it('Of 200 orders for 50 units, 50 are placed, 150 refused, and no stock is left', async () => {
  const { id: petId } = await arrange.pet(aPet(), 50);
  const answers = await atOnce(200, () => caller.post<Order>('/store/orders', { petId }));
  expect(outcomes(answers)).toEqual({ 201: 50, '409 pet_not_available': 150 });
  expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'pending' });
  const orders = await caller.get<Order[]>(`/store/orders?petId=${petId}&limit=100`);
  expect(orders.body).toHaveLength(50);
});

it('No adjustment of a stock is lost', async () => {
  const { id } = await arrange.pet(aPet(), 100);
  const path = `/store/inventory/${id}/adjustments`;
  const answers = await atOnce(60, (index) => caller.post(path, { delta: index % 2 === 0 ? 3 : -1 }));
  expect(outcomes(answers)).toEqual({ 200: 60 });
  expect(await inventory(id)).toMatchObject({ quantity: 100 + 90 - 30 });
});

it('An order that is cancelled ten times returns its units once', async () => {
  const { id: petId } = await arrange.pet(aPet(), 3);
  const { id } = await arrange.order(petId, { quantity: 3 });
  const answers = await atOnce(10, () => caller.delete(`/store/orders/${id}`));
  expect(outcomes(answers)).toEqual({ 204: 1, '404 order_not_found': 9 });
  expect(await inventory(petId)).toEqual({ petId, quantity: 3, status: 'available' });
});

it('The last two orders of a pet that are completed twice each leave it sold', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id: petId } = await arrange.pet(aPet(), 2);
    const orders = [await arrange.order(petId), await arrange.order(petId)];
    const answers = await Promise.all(
      [...orders, ...orders].map(({ id }) => caller.patch<Order>(`/store/orders/${id}`, { complete: true })),
    );
    expect(outcomes(answers)).toEqual({ 200: 4 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
  }
});

it('An order that another instance reschedules meanwhile is completed, and keeps its date', async () => {
  const { id: petId } = await arrange.pet();
  const { id } = await arrange.order(petId);
  const { pool } = service.database;
  const other = await pool.connect();
  await other.query('BEGIN');
  await other.query(`UPDATE orders SET ship_date = '2099-01-01Z' WHERE id = $1`, [id]);
  const completed = caller.patch<Order>(`/store/orders/${id}`, { complete: true });
  await until(async () => (await lockWaits(pool)) === 1);
  await other.query('COMMIT');
  other.release();
  expect((await completed).body).toMatchObject({ complete: true, shipDate: '2099-01-01T00:00:00.000Z' });
});

it('Of completing and cancelling an order exactly one succeeds', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
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

it('Of deleting a pet and ordering it exactly one succeeds', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id: petId } = await arrange.pet();
    const race = [
      () => caller.delete(`/pets/${petId}`),
      () => caller.post<Order>('/store/orders', { petId }),
      () => caller.delete(`/pets/${petId}`),
    ];
    // Both orders of sending, so that neither side always wins.
    const [first, ordered, last] = await Promise.all(race.map((send) => send()));
    const deletions = [first!.status, last!.status].sort();
    expect([
      [201, 409, 409],
      [422, 204, 404],
    ]).toContainEqual([ordered!.status, ...deletions]);
  }
});

it.each([
  ['is created', 'POST', 201],
  ['moves into it', 'PUT', 200],
])('A category of a pet that %s meanwhile is never deleted', async (_what, method, done) => {
  const { id: petId } = await arrange.pet();
  const target = method === 'POST' ? '/pets' : `/pets/${petId}`;
  const found = await atOnce(ROUNDS, async () => {
    const { id } = await arrange.category();
    const [written, deleted] = await Promise.all([
      caller.send(method, target, aPet().inCategory(id).build()),
      caller.delete(`/categories/${id}`),
    ]);
    const { body } = await caller.get<{ categoryId: number }[]>(`/pets?categoryId=${id}`);
    const left = (await caller.get(`/categories/${id}`)).status;
    return { answers: `${written.status} ${deleted.status}`, orphans: left === 404 ? body.length : 0 };
  });
  // Either the pet came first, the deletion did, or the pet had moved on when its deletion was tried.
  const possible = [`${done} 409`, '422 204', ...(method === 'PUT' ? ['200 204'] : [])];
  expect(found.filter(({ answers }) => !possible.includes(answers))).toEqual([]);
  expect(found.filter(({ orphans }) => orphans > 0)).toEqual([]);
});
