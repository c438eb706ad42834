import { type DeprecationNotice, PetStoreError } from '#libs/client';
import { ClientsService } from '../../../../src/modules/auth';
import { agreedPlan } from '../../../../src/modules/quotas';
import { useService } from '../../../support/use-service';
import { failureOf } from '../../../support/scripted';
import { onService } from './support/on-service';
import { eventually } from '../../../support/eventually';

const service = useService();

async function aCategory({ client }: Awaited<ReturnType<typeof onService>>): Promise<number> {
  return (await client.categories.create({ name: 'Dogs' })).id;
}

describe('Limits', () => {
  it('are those of the last response', async () => {
    const { client } = await onService(service, { plan: 'free' });
    expect(client.rateLimit).toBeUndefined();
    await client.categories.list();
    expect(client.rateLimit).toMatchObject({
      limit: 60,
      remaining: 59,
      resetAt: new Date(Math.ceil(service.clock.now() / 1_000) * 1_000 + 60_000),
    });
  });

  it('only delay a client: five times as many concurrent calls as a minute allows all succeed', async () => {
    const { client, statuses, waits } = await onService(
      service,
      { perMinute: 12, perDay: 1_000 },
      { maxWaitSeconds: 1_000, maxAttempts: 20 },
    );
    await Promise.all(Array.from({ length: 60 }, () => client.categories.list()));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses).toContain(429);
    expect(statuses).not.toContain(403);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it('of a day end a call at once, and a new plan is detected by GET /rate-limit', async () => {
    const { client, name, statuses } = await onService(service, { perMinute: 100, perDay: 2 });
    await client.categories.list();
    await client.categories.list();
    for (let call = 0; call < 15; call += 1) {
      expect(await failureOf(client.categories.list())).toMatchObject({ code: 'daily_quota_exceeded' });
    }
    expect(statuses).toEqual([200, 200, 429]);
    await service.app.get(ClientsService).setPlan(name, agreedPlan('pro'));
    await eventually(async () => expect((await client.account.rateLimit()).day.remaining).toBe(9_998));
    await client.categories.list();
  });
});

it('A deprecated operation is reported once', async () => {
  const notices: DeprecationNotice[] = [];
  const onDeprecation = (notice: DeprecationNotice) => notices.push(notice);
  const store = await onService(service, {}, { onDeprecation });
  const pet = await store.client.pets.create({ name: 'Ada', categoryId: await aCategory(store) });
  expect(await store.client.pets.get(pet.id)).toEqual(pet);
  await store.client.pets.get(pet.id);
  expect(notices).toEqual([
    {
      operation: 'GET /pets/{petId}',
      since: new Date('2026-11-01T00:00:00Z'),
      sunset: new Date('2027-11-01T00:00:00Z'),
      successor: `/pets?id=${pet.id}`,
    },
  ]);
});

it('An unchanged resource returns no data, and a changed one is not overwritten', async () => {
  const { client } = await onService(service);
  const { data, response } = await client.categories.create({ name: 'Dogs' }).withResponse();
  const tag = response.headers.get('etag')!;
  const same = await client.categories.get(data.id, { ifNoneMatch: tag }).withResponse();
  expect([same.response.status, same.data]).toEqual([304, undefined]);
  expect(await client.categories.replace(data.id, { name: 'Cats' }, { ifMatch: tag })).toMatchObject({
    name: 'Cats',
  });
  const stale = await failureOf(client.categories.delete(data.id, { ifMatch: tag }));
  expect(stale).toMatchObject({ code: 'precondition_failed', status: 412 });
  const changed = await client.categories.get(data.id, { ifNoneMatch: tag });
  expect(changed).toMatchObject({ name: 'Cats' });
});

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
  const { client: nobody } = await onService(service, {}, { baseUrl: 'http://127.0.0.1:1', maxAttempts: 1 });
  expect(await failureOf(nobody.pets.list())).toMatchObject({ code: 'no_answer', status: 0 });
});
