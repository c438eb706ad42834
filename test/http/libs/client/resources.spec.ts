import {
  InsufficientStockError,
  NoAnswerError,
  PetNotAvailableError,
  PetStoreError,
  PreconditionFailedError,
  type RateLimitNotice,
  ValidationFailedError,
} from '#libs/client';
import { useService } from '../../../support/use-service';
import { read } from '../../../support/files';
import { failureOf, onService } from './support/on-service';

const service = useService();

it('Every operation of the document has exactly one name', () => {
  const named = [...read('libs/client/src/resources.ts').matchAll(/: '((?:[a-z]+)[A-Z]\w+)'/g)].map(
    ([, id]) => id,
  );
  const known = [...read('libs/client/src/generated/routes.ts').matchAll(/^ {2}(\w+): \{/gm)].map(
    ([, id]) => id,
  );
  expect(known.length).toBeGreaterThan(15);
  // `store.events()` reads the feed.
  expect([...named, 'listEvents'].toSorted()).toEqual(known.toSorted());
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
});

it('Each code has its own class', async () => {
  const { client: store } = await onService(service, { plan: 'business' });
  const { id: categoryId } = await store.categories.create({ name: 'Errors' });
  const pet = await store.pets.create({ name: 'Ada', categoryId });
  const tooMany = await failureOf(store.orders.place({ petId: pet.id, quantity: 9 }));
  expect(tooMany).toBeInstanceOf(InsufficientStockError);
  expect(tooMany).toBeInstanceOf(PetStoreError);
  expect(tooMany).toMatchObject({ name: 'InsufficientStockError', code: 'insufficient_stock', status: 409 });
  const stale = await failureOf(
    store.pets.replace(pet.id, { name: 'Ada', categoryId }, { ifMatch: '"old"' }),
  );
  expect(stale).toBeInstanceOf(PreconditionFailedError);
  await store.orders.place({ petId: pet.id });
  expect(await failureOf(store.orders.place({ petId: pet.id }))).toBeInstanceOf(PetNotAvailableError);
  expect(await failureOf(store.pets.create({ name: '', categoryId }))).toBeInstanceOf(ValidationFailedError);
  const { client: nobody } = await onService(service, {}, { baseUrl: 'http://127.0.0.1:1', maxAttempts: 1 });
  expect(await failureOf(nobody.pets.list())).toBeInstanceOf(NoAnswerError);
});

it('onRateLimit is called at each refusal, before the client waits', async () => {
  const notices: RateLimitNotice[] = [];
  const onRateLimit = (notice: RateLimitNotice) => void notices.push(notice);
  const { client: store, waits } = await onService(service, { perMinute: 1, perDay: 100 }, { onRateLimit });
  await store.categories.list();
  await store.categories.list();
  expect(notices).toMatchObject([
    { code: 'rate_limit_exceeded', operation: 'GET /categories', rateLimit: { remaining: 0, limit: 1 } },
  ]);
  expect(waits).toEqual([notices[0]!.retryAfterSeconds! * 1_000]);
});
