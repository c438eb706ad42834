import { PetStoreError } from '#libs/client';
import { useService } from '../../../support/use-service';
import { failureOf, onService } from './support/on-service';

const service = useService();

it('A shop can be run with resources alone; arguments are path, body, query and options, in that order', async () => {
  const { client: store } = await onService(service, { plan: 'business' });
  const dogs = await store.categories.create({ name: 'Resource dogs' });
  const pet = await store.pets.create({ name: 'Ada', categoryId: dogs.id });
  expect(await store.inventory.set(pet.id, { quantity: 3 })).toMatchObject({ quantity: 3 });
  expect(await store.inventory.adjust(pet.id, { delta: 2 })).toMatchObject({ quantity: 5 });
  const order = await store.orders.place({ petId: pet.id, quantity: 2 }, { idempotencyKey: 'shop-1' });
  expect(await store.orders.place({ petId: pet.id, quantity: 2 }, { idempotencyKey: 'shop-1' })).toEqual(
    order,
  );
  expect(await store.orders.update(order.id, { complete: true })).toMatchObject({ complete: true });
  expect(await store.pets.update(pet.id, { name: 'Ada Lovelace' })).toMatchObject({ name: 'Ada Lovelace' });
  expect(await store.pets.list({ name: 'Ada L', categoryId: dogs.id })).toHaveLength(1);
  const second = await store.orders.place({ petId: pet.id });
  expect(await store.orders.cancel(second.id)).toBeUndefined();
  expect(await store.account.rateLimit()).toMatchObject({ plan: 'business' });
  expect(await store.account.usage({ days: 1 })).toMatchObject({
    days: [{ requests: expect.any(Number) as number }],
  });
  const ended = AbortSignal.abort(new Error('enough'));
  expect(await failureOf(store.pets.list({}, { signal: ended }))).toEqual(new Error('enough'));
});

it('A list is one page when awaited, all of it when iterated, and sends nothing when unused', async () => {
  const { client: store, statuses } = await onService(service, { plan: 'business' });
  const { id: categoryId } = await store.categories.create({ name: 'Many' });
  await Promise.all(
    Array.from({ length: 23 }, (_none, n) => store.pets.create({ name: `Pet ${n}`, categoryId })),
  );
  const sent = statuses.length;
  const list = store.pets.list({ categoryId });
  expect(statuses).toHaveLength(sent);
  expect(await list).toHaveLength(20);
  expect((await list.finally(() => undefined)).length + (await list.catch(() => [])).length).toBe(40);
  expect(statuses).toHaveLength(sent + 1);
  const ids: number[] = [];
  for await (const { id } of list) {
    ids.push(id);
  }
  expect(new Set(ids).size).toBe(23);
  expect(statuses).toHaveLength(sent + 2);
  const sizes: number[] = [];
  for await (const page of store.pets.list({ categoryId, limit: 10 }).pages()) {
    sizes.push(page.length);
  }
  expect(sizes).toEqual([10, 10, 3]);
  const first = await store.pets.list({ categoryId, limit: 12 });
  const second = await first.next();
  expect([first.length, second!.length, await second!.next()]).toEqual([12, 11, undefined]);
  expect(first).toEqual([...first]);
});

it('A failure has the code of the service, or one of the client', async () => {
  const { client: store } = await onService(service, { plan: 'business' });
  const { id: categoryId } = await store.categories.create({ name: 'Errors' });
  const pet = await store.pets.create({ name: 'Ada', categoryId });
  const tooMany = await failureOf(store.orders.place({ petId: pet.id, quantity: 9 }));
  expect(tooMany).toBeInstanceOf(PetStoreError);
  expect(tooMany).toMatchObject({ name: 'PetStoreError', code: 'insufficient_stock', status: 409 });
  const stale = await failureOf(
    store.pets.replace(pet.id, { name: 'Ada', categoryId }, { ifMatch: '"old"' }),
  );
  expect(stale).toMatchObject({ code: 'precondition_failed', status: 412 });
  const { client: nobody } = await onService(service, {}, { baseUrl: 'http://127.0.0.1:1', maxAttempts: 1 });
  expect(await failureOf(nobody.pets.list())).toMatchObject({ code: 'no_answer', status: 0 });
});
