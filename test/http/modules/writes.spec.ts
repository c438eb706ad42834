import { Readable } from 'node:stream';
import { ImportCatalogue } from '../../../src/modules/catalogue';
import type { Answer, ErrorBody } from '../../support/api-caller';
import { type Category, type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
import { until } from '../../support/eventually';
import { tally } from '../../support/limits';
import { useStore } from '../../support/use-service';
import { lockWaits, whileHeld } from '../../support/while-locked';

// Which values a field takes is tested in test/unit/libs/http/validation.spec.ts.

const { service, caller, arrange } = useStore();
/** The largest stock. */
const MOST = 2_147_483_647;
const UNKNOWN = 4_711;

const inventory = async (petId: number) =>
  (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

type Fields = Record<string, unknown>;

/** What is sent besides the ids, and what the answer has besides that and an id. */
const CREATED: [what: string, path: string, fields: Fields, more: Fields][] = [
  ['a pet', '/pets', { name: 'Rex' }, { status: 'available' }],
  ['a name as it is', '/pets', { name: `';--<b>%_\\ 🐕\n` }, { status: 'available' }],
  ['a held pet', '/pets', { name: 'Rex', status: 'pending' }, {}],
  ['a sold pet', '/pets', { name: 'Rex', status: 'sold' }, {}],
  ['a category', '/categories', { name: 'Dogs' }, {}],
  ['a name that is there', '/categories', { name: 'Dogs' }, {}],
  ['an empty description', '/categories', { name: 'Dogs', description: '' }, {}],
  ['the longest texts', '/categories', { name: '🐕'.repeat(200), description: '🐕'.repeat(2_000) }, {}],
  ['an order', '/store/orders', {}, { quantity: 1, complete: false }],
  [
    'a whole order',
    '/store/orders',
    { quantity: MOST - 1, shipDate: '2026-11-24T09:30:00.000Z', complete: true },
    {},
  ],
];

it.concurrent.each(CREATED)('201: %s, with defaults and an id', async (_what, path, fields, more) => {
  const { id: petId, categoryId } = await arrange.pet(aPet(), MOST);
  const ids: Fields = { '/pets': { categoryId }, '/store/orders': { petId } }[path] ?? {};
  const { status, body: created } = await caller.post<Fields>(path, { ...ids, ...fields });
  const expected = { ...ids, ...fields, ...more, id: expect.any(Number) as number };
  expect([status, created]).toEqual([201, expected]);
});

/** Stands for the category of another pet. */
const OTHER = 0;

/** A change of a pet that is held, of a category with a description or of an open order, and what it changes. */
const CHANGES: [method: string, of: 'pet' | 'category' | 'order', body: Fields, changes: Fields][] = [
  ['PUT', 'pet', { name: 'Max', categoryId: OTHER }, { name: 'Max', categoryId: OTHER }],
  [
    'PUT',
    'pet',
    { name: 'Max', categoryId: OTHER, status: 'sold' },
    { name: 'Max', categoryId: OTHER, status: 'sold' },
  ],
  ['PATCH', 'pet', { categoryId: OTHER, status: 'sold' }, { categoryId: OTHER, status: 'sold' }],
  ['PUT', 'category', { name: 'Cats', description: 'Aloof.' }, { name: 'Cats', description: 'Aloof.' }],
  ['PUT', 'category', { name: 'Cats' }, { name: 'Cats', description: undefined }],
  ['PATCH', 'order', { shipDate: '2026-12-02T01:00:00+01:00' }, { shipDate: '2026-12-02T00:00:00.000Z' }],
  ['PATCH', 'order', { shipDate: null, complete: false }, { shipDate: undefined }],
];

it.concurrent.each(CHANGES)(
  '200: %s of a %s, %j, changes %j and nothing else',
  async (method, of, body, changes) => {
    const [before, target] = await a(of);
    const { categoryId } = await arrange.pet();
    const filled = (fields: Fields) => ('categoryId' in fields ? { ...fields, categoryId } : fields);
    const answer = await caller.send<Fields>(method, target, filled(body));
    expect([answer.status, answer.body]).toEqual([200, { ...before, ...filled(changes) }]);
    expect((await caller.get(target)).text).toBe(answer.text);
  },
);

async function a(kind: 'pet' | 'category' | 'order'): Promise<[before: object, target: string]> {
  if (kind === 'category') {
    const { body } = await caller.post<Category>('/categories', { name: 'Dogs', description: 'Loyal.' });
    return [body, `/categories/${body.id}`];
  }
  const pet = await arrange.pet(kind === 'pet' ? aPet().pending() : aPet());
  if (kind === 'pet') return [pet, `/pets/${pet.id}`];
  const order = await arrange.order(pet.id, { shipDate: '2026-12-01T00:00:00.000Z' });
  return [order, `/store/orders/${order.id}`];
}

it('200: the ship date of a complete order can be set after its pet was deleted', async () => {
  const order = await arrange.order((await arrange.pet()).id, { complete: true });
  await caller.delete(`/pets/${order.petId}`);
  const shipDate = '2026-12-01T00:00:00.000Z';
  const answer = await caller.patch<Order>(`/store/orders/${order.id}`, { shipDate });
  expect(answer).toMatchObject({ status: 200, body: { ...order, shipDate } });
});

describe('shipDate', () => {
  // What PostgreSQL keeps of them; at some time of the 19th century a time zone had seconds.
  it.each([
    ['2026-11-21t09:30:00.1239999999+05:30', '2026-11-21T04:00:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['1883-11-18T12:03:57Z', '1883-11-18T12:03:57.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is accepted, and returned as %s', async (sent, answered) => {
    const { id } = await arrange.order((await arrange.pet()).id, { shipDate: sent });
    expect((await caller.get<Order>(`/store/orders/${id}`)).body.shipDate).toBe(answered);
  });

  it('is stored in UTC, whatever the time zone of the machine', async () => {
    // The offset that JavaScript tells of Vienna before 1893, cut to whole minutes.
    const date = Object.assign(new Date('1883-11-18T12:03:57Z'), { getTimezoneOffset: () => -65 });
    const { rows } = await service.database.pool.query('SELECT $1::text AS sent', [date]);
    expect(rows).toEqual([{ sent: '1883-11-18T12:03:57.000+00:00' }]);
  });
});

describe('a category that does not exist', () => {
  it.each(['PUT', 'PATCH'])('422 unknown_category: %s changes nothing', async (method) => {
    const pet = await arrange.pet();
    const body = { name: 'Max', categoryId: UNKNOWN };
    const refused = await caller.send<ErrorBody>(method, `/pets/${pet.id}`, body);
    expect(refused.body).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(`/pets/${pet.id}`)).body).toEqual(pet);
  });

  it('422 unknown_category: POST creates no pet', async () => {
    const stray = aPet().named('Stray').inCategory(UNKNOWN).build();
    const { body } = await caller.post<ErrorBody>('/pets', stray);
    expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
    expect(body.message).toContain(`There is no category ${UNKNOWN}`);
    const { rows } = await service.database.pool.query(`SELECT FROM pets WHERE name = 'Stray'`);
    expect(rows).toEqual([]);
  });
});

describe('a refusal says what to do', () => {
  it.each([
    ['pending', 'A sold pet cannot become pending.'],
    ['available', 'A pet without stock cannot become available. Set its stock: that makes it available.'],
  ])('409 invalid_status_transition: sold to %s, and no other field changes', async (status, message) => {
    const pet = await arrange.pet(aPet().sold());
    for (const method of ['PUT', 'PATCH']) {
      const body = { name: 'Max', categoryId: pet.categoryId, status };
      const refused = await caller.send<ErrorBody>(method, `/pets/${pet.id}`, body);
      expect(refused.body).toEqual({ code: 'invalid_status_transition', message, status: 409 });
      expect((await caller.get<Pet>(`/pets/${pet.id}`)).body).toEqual(pet);
    }
  });

  it('409 pet_has_open_orders: names them', async () => {
    const { id } = await arrange.pet();
    await arrange.order(id);
    const { body } = await caller.delete<ErrorBody>(`/pets/${id}`);
    expect(body).toMatchObject({ code: 'pet_has_open_orders', status: 409 });
    expect(body.message).toContain(`/store/orders?petId=${id}&complete=false`);
    expect(await inventory(id)).toEqual({ petId: id, quantity: 0, status: 'pending' });
  });

  it('409 category_in_use: names the pets, whatever their status is', async () => {
    const { categoryId } = await arrange.pet(aPet().sold());
    const { body } = await caller.delete<ErrorBody>(`/categories/${categoryId}`);
    expect(body).toMatchObject({ code: 'category_in_use', status: 409 });
    expect(body.message).toContain(`/pets?categoryId=${categoryId}`);
    expect((await caller.get(`/categories/${categoryId}`)).status).toBe(200);
  });
});

describe('204: what is deleted', () => {
  it('is gone from every operation and every list, and its id is not used again', async () => {
    const { id, categoryId } = await arrange.pet();
    const { id: orderId } = await arrange.order(id);
    for (const target of [`/store/orders/${orderId}`, `/pets/${id}`, `/categories/${categoryId}`]) {
      const { status, text } = await caller.delete(target);
      expect([target, status, text]).toEqual([target, 204, '']);
    }
    for (const [method, target, code] of [
      ['GET', `/pets/${id}`, 'pet_not_found'],
      ['PATCH', `/pets/${id}`, 'pet_not_found'],
      ['GET', `/store/inventory/${id}`, 'pet_not_found'],
      ['GET', `/store/orders/${orderId}`, 'order_not_found'],
      ['GET', `/categories/${categoryId}`, 'category_not_found'],
      ['DELETE', `/categories/${categoryId}`, 'category_not_found'],
    ] as const) {
      const { body } = await caller.send<ErrorBody>(method, target, method === 'PATCH' ? {} : undefined);
      expect(body.code).toBe(code);
    }
    for (const list of [`/pets?id=${id}`, `/pets?categoryId=${categoryId}`, `/store/orders?petId=${id}`]) {
      expect((await caller.get(list)).body).toEqual([]);
    }
    expect((await arrange.pet()).id).toBeGreaterThan(id);
  });

  // No request shows what is deleted, so the tables have to.
  it('stays in the database for the books: a pet with its former category, a cancelled order', async () => {
    const pet = await arrange.pet();
    const { id: orderId } = await arrange.order(pet.id);
    await caller.delete(`/store/orders/${orderId}`);
    await caller.delete(`/pets/${pet.id}`);
    const { pool } = service.database;
    const pets = await pool.query(
      `SELECT name, category_id, former_category_id::int, status, deleted_at FROM pets WHERE id = $1`,
      [pet.id],
    );
    const { name, status, categoryId } = pet;
    const kept = { name, status, category_id: null, former_category_id: categoryId };
    expect(pets.rows).toEqual([{ ...kept, deleted_at: expect.any(Date) as Date }]);
    const orders = await pool.query(
      `SELECT pet_id::int, quantity, complete, cancelled_at FROM orders WHERE id = $1`,
      [orderId],
    );
    const order = { pet_id: pet.id, quantity: 1, complete: false };
    expect(orders.rows).toEqual([{ ...order, cancelled_at: expect.any(Date) as Date }]);
  });
});

it('A name is one word in whatever form its system types it: stored, found, repeated and patched alike', async () => {
  const [decomposed, composed] = ['Cafe\u0301', 'Caf\u00e9'];
  const { id } = await arrange.category();
  const keyed = caller.with({ 'Idempotency-Key': 'forms' });
  const first = await keyed.post<Pet>('/pets', { name: decomposed, categoryId: id });
  expect(first).toMatchObject({ status: 201, body: { name: composed } });
  const second = await keyed.post<Pet>('/pets', { name: composed, categoryId: id });
  expect([second.headers.get('idempotent-replayed'), second.body.id]).toEqual(['true', first.body.id]);
  for (const name of [decomposed, composed]) {
    const { body } = await caller.get<Pet[]>(`/pets?name=${encodeURIComponent(name)}`);
    expect(body.map((pet) => pet.id)).toEqual([first.body.id]);
  }
  // As long as a name may be, once it is composed; in the other form it is twice as long.
  const long = await caller.patch<Pet>(`/pets/${first.body.id}`, { name: 'e\u0301'.repeat(200) });
  expect(long).toMatchObject({ status: 200, body: { name: '\u00e9'.repeat(200) } });
  const line = JSON.stringify({ kind: 'category', id: 1, name: decomposed, description: decomposed });
  await service.app.get(ImportCatalogue).importFrom(Readable.from([Buffer.from(line)]));
  const { body } = await caller.get<Category[]>(`/categories?name=${encodeURIComponent(composed)}`);
  expect(body).toEqual([expect.objectContaining({ name: composed, description: decomposed })]);
});

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
  ['a deleted pet cannot be ordered', 1, [remove(), open(1, 'unknown_pet')], 1, 'deleted'],
  ['a deleted pet is gone', 1, [remove(), set(1, NO_PET), adjust(1, NO_PET), remove(NO_PET)], 1, 'deleted'],
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

/** How often each status (and code, of errors) was answered. */
const outcomes = (answers: { status: number; body: unknown }[]) =>
  tally(answers.map(({ status, body }) => `${status} ${(body as Partial<ErrorBody>)?.code ?? ''}`.trim()));

const atOnce = <Result>(count: number, send: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, send));

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

it('An order that another instance reschedules meanwhile is completed, and keeps its date', async () => {
  const { id: petId } = await arrange.pet();
  const { id } = await arrange.order(petId);
  const { pool } = service.database;
  const reschedule = `UPDATE orders SET ship_date = '2099-01-01Z' WHERE id = ${id}`;
  const { completed } = await whileHeld(pool, reschedule, async () => {
    const completed = caller.patch<Order>(`/store/orders/${id}`, { complete: true });
    await until(async () => (await lockWaits(pool)) === 1);
    return { completed };
  });
  expect((await completed).body).toMatchObject({ complete: true, shipDate: '2099-01-01T00:00:00.000Z' });
});
