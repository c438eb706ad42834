import { PetStoreError, all } from '#libs/client';
import { ClientsService } from '../../../../src/modules/auth';
import { agreedPlan } from '../../../../src/modules/quotas';
import { eventually } from '../../../support/eventually';
import { failureOf } from '../../../support/scripted';
import { useService } from '../../../support/use-service';
import { onService } from './support/on-service';

const service = useService();

it('A shop can be run with the operations, named as in the document', async () => {
  const { client: store } = await onService(service, { plan: 'business' });
  const { data: dogs } = await store.createCategory({ body: { name: 'Dogs' } });
  const { data: pet, response } = await store.createPet({ body: { name: 'Ada', categoryId: dogs.id } });
  expect([pet.status, response.headers.get('location')]).toEqual(['available', `/pets/${pet.id}`]);
  const path = { petId: pet.id };
  expect((await store.setInventory({ path, body: { quantity: 3 } })).data.quantity).toBe(3);
  const placing = { body: { petId: pet.id, quantity: 2 }, header: { 'Idempotency-Key': 'shop-1' } };
  const { data: order } = await store.placeOrder(placing);
  expect((await store.placeOrder(placing)).data).toEqual(order);
  const { data: complete } = await store.updateOrder({
    path: { orderId: order.id },
    body: { complete: true },
  });
  expect(complete).toEqual({ ...order, complete: true });
  const second = await store.placeOrder({ body: { petId: pet.id } });
  expect((await store.cancelOrder({ path: { orderId: second.data.id } })).data).toBeUndefined();
  const tooMany = await failureOf(store.placeOrder({ body: { petId: pet.id, quantity: 9 } }));
  expect(tooMany).toBeInstanceOf(PetStoreError);
  expect(tooMany).toMatchObject({ name: 'PetStoreError', code: 'insufficient_stock', status: 409 });
});

it('An unchanged resource is not modified, and a changed one is not overwritten', async () => {
  const { client: store } = await onService(service);
  const { data, response } = await store.createCategory({ body: { name: 'Dogs' } });
  const path = { categoryId: data.id };
  const tag = response.headers.get('etag')!;
  const reading = { path, header: { 'If-None-Match': tag } };
  const changing = { path, header: { 'If-Match': tag } };
  expect(await failureOf(store.getCategory(reading))).toMatchObject({ code: 'not_modified', status: 304 });
  await store.replaceCategory({ ...changing, body: { name: 'Cats' } });
  expect(await failureOf(store.deleteCategory(changing))).toMatchObject({ code: 'precondition_failed' });
  expect((await store.getCategory(reading)).data.name).toBe('Cats');
});

it('A list is a page with the cursor of the next one; all of it is read in pages of a hundred', async () => {
  const { client: store, statuses } = await onService(service, { plan: 'business' });
  const { data: category } = await store.createCategory({ body: { name: 'Many' } });
  const query = { categoryId: category.id };
  const names = Array.from({ length: 23 }, (_none, n) => `Pet ${n}`);
  await Promise.all(names.map((name) => store.createPet({ body: { name, ...query } })));
  const first = await store.listPets({ query });
  const second = await store.listPets({ query: { ...query, cursor: first.next } });
  expect([first.items.length, second.items.length, second.next]).toEqual([20, 3, undefined]);
  const sent = statuses.length;
  const found: string[] = [];
  for await (const { name } of all(store.listPets, { query })) {
    found.push(name);
  }
  expect([found.toSorted(), statuses.length]).toEqual([names.toSorted(), sent + 1]);
});

describe('Limits', () => {
  it('only delay a client: five times as many concurrent calls as a minute allows all succeed', async () => {
    const { client, statuses } = await onService(
      service,
      { perMinute: 12, perDay: 1_000 },
      { maxWaitSeconds: 1_000, maxAttempts: 20 },
    );
    await Promise.all(Array.from({ length: 60 }, () => client.listCategories()));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses).toContain(429);
    expect(statuses).not.toContain(403);
  });

  it('of a day end a call at once, and a new plan is noticed within a minute', async () => {
    const { client, name, statuses } = await onService(service, { perMinute: 100, perDay: 2 });
    await client.listCategories();
    await client.listCategories();
    for (let call = 0; call < 15; call += 1) {
      expect(await failureOf(client.listCategories())).toMatchObject({ code: 'daily_quota_exceeded' });
    }
    expect(statuses).toEqual([200, 200, 429]);
    await service.app.get(ClientsService).setPlan(name, agreedPlan('pro'));
    await eventually(async () => expect((await client.getRateLimit()).data.plan).toBe('pro'));
    service.clock.advance(60_000);
    await client.listCategories();
  });
});
