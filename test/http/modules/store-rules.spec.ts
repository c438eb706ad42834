import type { Answer, ErrorBody } from '../../support/api-caller';
import { type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
import { until } from '../../support/eventually';
import { tally } from '../../support/spread';
import { useStore } from '../../support/use-service';
import { lockWaits } from '../../support/while-locked';

const { service, caller, arrange } = useStore();

const inventory = async (petId: number) =>
  (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

type Status = Pet['status'];
/** A success's HTTP status, or an error's code. */
type Outcome = number | string;

/** A pet, and its orders in their turn. */
interface Course {
  petId: number;
  orders: number[];
}

/** What a caller does, and what the answer is. */
interface Step {
  outcome: Outcome;
  send: (course: Course) => Promise<Answer<unknown>>;
}

const place = (quantity: number, complete: boolean, outcome: Outcome): Step => ({
  outcome,
  send: ({ petId }) => caller.post<unknown>('/store/orders', { petId, quantity, complete }),
});
const open = (quantity = 1, outcome: Outcome = 201) => place(quantity, false, outcome);
const sale = place(1, true, 201);
const change = (order: number, body: Partial<Order>, outcome: Outcome): Step => ({
  outcome,
  send: ({ orders }) => caller.patch<unknown>(`/store/orders/${orders[order]}`, body),
});
const complete = (order: number, outcome: Outcome = 200) => change(order, { complete: true }, outcome);
const reopen = (order: number, outcome: Outcome) => change(order, { complete: false }, outcome);
const cancel = (order: number, outcome: Outcome = 204): Step => ({
  outcome,
  send: ({ orders }) => caller.delete<unknown>(`/store/orders/${orders[order]}`),
});
const set = (quantity: number, outcome: Outcome = 200): Step => ({
  outcome,
  send: ({ petId }) => caller.put<unknown>(`/store/inventory/${petId}`, { quantity }),
});
const adjust = (delta: number, outcome: Outcome = 200): Step => ({
  outcome,
  send: ({ petId }) => caller.post<unknown>(`/store/inventory/${petId}/adjustments`, { delta }),
});
const byHand = (status: Status, outcome: Outcome = 200): Step => ({
  outcome,
  send: ({ petId }) => caller.patch<unknown>(`/pets/${petId}`, { status }),
});
const remove = (outcome: Outcome = 204): Step => ({
  outcome,
  send: ({ petId }) => caller.delete<unknown>(`/pets/${petId}`),
});

const NO_PET = 'pet_not_found';
const NO_ORDER = 'order_not_found';
const DONE = 'order_already_complete';
const FULL = 'stock_limit_exceeded';
/** The largest stock. */
const MOST = 2_147_483_647;
const UNFIT = 'invalid_status_transition';

type Rule = [rule: string, stock: number, steps: Step[], left: number, status: Status | 'deleted'];

/** What happens to an available pet with this stock, and what it has then. The status has its rules in pet-status.spec.ts. */
const RULES: Rule[] = [
  ['a pet stays available while an order leaves units', 3, [open(2)], 1, 'available'],
  ['a pet becomes pending when an order takes its last unit', 3, [open(2), open()], 0, 'pending'],
  ['its last completed order sells a pet', 2, [open(), open(), complete(0), complete(1)], 0, 'sold'],
  ['a sale of the last unit sells the pet', 1, [sale], 0, 'sold'],
  ['a cancelled order makes a pending pet available', 1, [open(), cancel(0)], 1, 'available'],
  ['a pet sold by hand gets its units back', 2, [open(), byHand('sold'), cancel(0)], 2, 'sold'],
  ['completing an order again changes nothing', 1, [sale, set(1), complete(0)], 1, 'available'],
  ['an open order is open already', 2, [open(), reopen(0, 200)], 1, 'available'],
  ['a change by hand leaves the stock', 4, [byHand('pending'), byHand('sold')], 4, 'sold'],
  ['a pending pet cannot be ordered', 3, [byHand('pending'), open(1, 'pet_not_available')], 3, 'pending'],
  ['a sold pet cannot be ordered', 3, [byHand('sold'), open(4, 'pet_not_available')], 3, 'sold'],
  ['no more can be ordered than is in stock', 3, [open(4, 'insufficient_stock')], 3, 'available'],
  ['nothing can be ordered without stock', 0, [open(1, 'pet_not_available')], 0, 'sold'],
  ['a sold-out pet becomes available when its stock is set', 1, [sale, set(5)], 5, 'available'],
  ['a pet whose stock is set to nothing is sold', 1, [set(0)], 0, 'sold'],
  ['units added to nothing make a pet available', 1, [open(), adjust(2)], 2, 'available'],
  ['the last unit that is taken away sells the pet', 2, [adjust(-2)], 0, 'sold'],
  ['a pet without stock cannot be offered', 1, [sale, byHand('available', UNFIT)], 0, 'sold'],
  ['no more can be taken than is left', 3, [open(2), adjust(-2, 'insufficient_stock')], 1, 'available'],
  ['no more units can be added than fit', 3, [set(MOST - 2), adjust(3, FULL), adjust(2)], MOST, 'available'],
  [
    'an order is cancelled only if its units fit',
    5,
    [open(5), set(MOST - 4), cancel(0, FULL), adjust(-1), cancel(0)],
    MOST,
    'available',
  ],
  ['an order returns its units to any stock', 3, [open(3), set(10), cancel(0)], 13, 'available'],
  [
    'what is cancelled is gone',
    2,
    [open(), cancel(0), cancel(0, NO_ORDER), complete(0, NO_ORDER)],
    2,
    'available',
  ],
  ['a complete order stays so', 2, [sale, cancel(0, DONE), reopen(0, DONE)], 1, 'available'],
  ['a sold pet cannot become pending', 1, [byHand('sold'), byHand('pending', UNFIT)], 1, 'sold'],
  ['a deleted pet cannot be ordered', 1, [remove(), open(1, 'unknown_pet')], 1, 'deleted'],
  ['a deleted pet is gone', 1, [remove(), set(1, NO_PET), adjust(1, NO_PET), remove(NO_PET)], 1, 'deleted'],
  ['a pet with open orders cannot be deleted', 3, [open(), remove('pet_has_open_orders')], 2, 'available'],
  ['a pet without open orders can be deleted', 3, [open(), complete(0), remove()], 2, 'deleted'],
];

it.concurrent.each(RULES)('%s', async (_rule, stock, steps, quantity, status) => {
  const { id: petId } = await arrange.pet(undefined, stock);
  const orders: number[] = [];
  for (const { outcome, send } of steps) {
    const answer = await send({ petId, orders });
    expect(answer.status < 400 ? answer.status : (answer.body as ErrorBody).code).toBe(outcome);
    if (answer.status === 201) orders.push((answer.body as Order).id);
  }
  const left = status === 'deleted' ? { code: 'pet_not_found' } : { petId, quantity, status };
  expect(await inventory(petId)).toMatchObject(left);
});

// And whatever happens at the same time.

const ROUNDS = 5;

/** How often each status (and code, of errors) was answered. */
const outcomes = (answers: { status: number; body: unknown }[]) =>
  tally(answers.map(({ status, body }) => `${status} ${(body as Partial<ErrorBody>)?.code ?? ''}`.trim()));

const atOnce = <Result>(count: number, send: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_none, index) => send(index)));

it('Of 60 orders for 20 units, 20 are placed, 40 refused, and no stock is left', async () => {
  const { id: petId } = await arrange.pet(aPet(), 20);
  const answers = await atOnce(60, () => caller.post<Order>('/store/orders', { petId }));
  expect(outcomes(answers)).toEqual({ 201: 20, '409 pet_not_available': 40 });
  expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'pending' });
  const orders = await caller.get<Order[]>(`/store/orders?petId=${petId}&limit=100`);
  expect(orders.body).toHaveLength(20);
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
