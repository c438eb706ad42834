import { Readable } from 'node:stream';
import { ImportCatalogue } from '../../../../src/modules/catalogue';
import type { ErrorBody } from '../../../support/api-caller';
import { type Category, type Pet, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';
import { adjust, byHand, complete, open, remove, set, testRules } from '../support/stock-rules';

// test/unit/libs/http/validation.spec.ts tests which values a field accepts.

const store = useStore();
const { service, caller, arrange, inventory } = store;

it.concurrent.each([
  ['PUT', { name: 'Max' }],
  ['PUT', { name: 'Max', status: 'sold' }],
  ['PATCH', { status: 'sold' }],
])(
  '200: %s of a held pet, %j and another category, changes them and nothing else',
  async (method, fields) => {
    const pet = await arrange.pet(aPet().pending());
    const { id: categoryId } = await arrange.category();
    const answer = await caller.send<Pet>(method, `/pets/${pet.id}`, { ...fields, categoryId });
    expect([answer.status, answer.body]).toEqual([200, { ...pet, ...fields, categoryId }]);
    expect((await caller.get(`/pets/${pet.id}`)).text).toBe(answer.text);
  },
);

it.each(['PUT', 'PATCH'])('422 unknown_category: %s changes nothing', async (method) => {
  const pet = await arrange.pet();
  const sent = { name: 'Max', categoryId: 4_711 };
  const { body } = await caller.send<ErrorBody>(method, `/pets/${pet.id}`, sent);
  expect(body).toMatchObject({ code: 'unknown_category', status: 422 });
  expect(body.message).toContain('There is no category 4711');
  expect((await caller.get(`/pets/${pet.id}`)).body).toEqual(pet);
});

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

const NO_PET = 'pet_not_found';

testRules(store, [
  ['a change by hand leaves the stock', 4, [byHand('pending'), byHand('sold')], 4, 'sold'],
  ['a deleted pet cannot be ordered', 1, [remove(), open(1, 'unknown_pet')], 1, 'deleted'],
  ['a deleted pet is gone', 1, [remove(), set(1, NO_PET), adjust(1, NO_PET), remove(NO_PET)], 1, 'deleted'],
  ['a pet without open orders can be deleted', 3, [open(), complete(0), remove()], 2, 'deleted'],
]);

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

  // No request shows deleted resources, so the test reads the tables.
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
  // The composed form of this name has the greatest length. The form that is sent is twice as long.
  const long = await caller.patch<Pet>(`/pets/${first.body.id}`, { name: 'e\u0301'.repeat(200) });
  expect(long).toMatchObject({ status: 200, body: { name: '\u00e9'.repeat(200) } });
  const line = JSON.stringify({ kind: 'category', id: 1, name: decomposed, description: decomposed });
  await service.app.get(ImportCatalogue).importFrom(Readable.from([Buffer.from(line)]));
  const { body } = await caller.get<Category[]>(`/categories?name=${encodeURIComponent(composed)}`);
  expect(body).toEqual([expect.objectContaining({ name: composed, description: decomposed })]);
});
