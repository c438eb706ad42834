import { type Category, type InventoryItem, type Order, type Pet, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';
import { type Event, Follower } from './support/feed';

const { caller, arrange } = useStore();
const feed = new Follower('/events?limit=100');

type Read = () => Promise<object>;
type Told = [type: string, data: Read | object];

const read = async (target: string): Promise<object> => (await caller.get<object>(target)).body;
const petOf = (id: number) => async () => ((await read(`/pets?id=${id}`)) as Pet[])[0]!;
const stockOf = (id: number) => () => read(`/store/inventory/${id}`);
const orderOf = (id: number) => () => read(`/store/orders/${id}`);
const categoryOf = (id: number) => () => read(`/categories/${id}`);

/** What a write reports, and what the GETs answer now. */
async function expectTold(...told: Told[]): Promise<Event[]> {
  const events = await feed.readAll(caller);
  const expected = await Promise.all(
    told.map(async ([type, data]) => ({ type, data: typeof data === 'function' ? await data() : data })),
  );
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual(expected);
  return events;
}

let pet: Pet;
beforeEach(async () => {
  pet = await arrange.pet(aPet(), 3);
  await feed.readAll(caller);
});

const at = (path: string) => `${path}/${pet.id}`;
const pets = (body: object) => caller.post<Pet>('/pets', { ...body, categoryId: pet.categoryId });
const orders = (body: object) => caller.post<Order>('/store/orders', { petId: pet.id, ...body });
const theStock = (): Told => ['inventory.updated', stockOf(pet.id)];
const thePet = (): Told => ['pet.updated', petOf(pet.id)];

/** What is sent about a pet with three units, and what is reported: of what was created, by its id, and of the pet. */
const WRITES: [
  what: string,
  write: () => Promise<{ body: { id?: number } }>,
  told: (id: number) => Told[],
][] = [
  [
    'POST /pets: the pet, with its first stock',
    () => pets({ name: 'Ada' }),
    (id) => [['pet.created', petOf(id)]],
  ],
  [
    'PUT /pets/{petId}: the pet',
    () => caller.put(at('/pets'), { name: 'Ada', categoryId: pet.categoryId }),
    () => [thePet()],
  ],
  [
    'PATCH /pets/{petId} with another status: the stock, too',
    () => caller.patch(at('/pets'), { status: 'pending' }),
    () => [theStock(), thePet()],
  ],
  [
    'POST /categories: the category',
    () => caller.post<Category>('/categories', { name: 'Cats', description: 'Quiet.' }),
    (id) => [['category.created', categoryOf(id)]],
  ],
  [
    'PUT /categories/{categoryId}: the category',
    () => caller.put(`/categories/${pet.categoryId}`, { name: 'Cats' }),
    () => [['category.updated', categoryOf(pet.categoryId)]],
  ],
  [
    'PUT /store/inventory/{petId}: the stock',
    () => caller.put(at('/store/inventory'), { quantity: 7 }),
    () => [theStock()],
  ],
  [
    'POST …/adjustments: the stock',
    () => caller.post(`${at('/store/inventory')}/adjustments`, { delta: -1 }),
    () => [theStock()],
  ],
  [
    'POST /store/orders for the last unit: the pet, too',
    () => orders({ quantity: 3 }),
    (id) => [['order.placed', orderOf(id)], theStock(), thePet()],
  ],
  [
    'POST /store/orders with complete: both steps',
    () => orders({ quantity: 3, complete: true }),
    (id) => [['order.placed', orderOf(id)], ['order.completed', orderOf(id)], theStock(), thePet()],
  ],
];

it.each(WRITES)('%s', async (_what, write, told) => {
  const { body } = await write();
  await expectTold(...told(body.id!));
});

it('DELETE /pets/{petId} and /categories/{categoryId}: what is deleted, as it was', async () => {
  const before = await petOf(pet.id)();
  const category = await categoryOf(pet.categoryId)();
  await caller.delete(at('/pets'));
  await caller.delete(`/categories/${pet.categoryId}`);
  await expectTold(['pet.deleted', before], ['category.deleted', category]);
});

describe('an order that takes the last units', () => {
  let order: Order;
  const target = () => `/store/orders/${order.id}`;
  beforeEach(async () => {
    order = (await caller.post<Order>('/store/orders', { petId: pet.id, quantity: 3 })).body;
    await feed.readAll(caller);
  });

  it('PATCH: is reported twice when it gets a date and is completed', async () => {
    await caller.patch(target(), { complete: true, shipDate: '2026-12-01T00:00:00Z' });
    await expectTold(
      ['order.updated', orderOf(order.id)],
      ['order.completed', orderOf(order.id)],
      theStock(),
      thePet(),
    );
  });

  it('DELETE: is reported as it was, with the stock that it returned', async () => {
    await caller.delete(target());
    await expectTold(
      ['order.cancelled', order],
      ['inventory.updated', stockOf(pet.id)],
      ['pet.updated', petOf(pet.id)],
    );
  });

  it('reports a restocked pet as available', async () => {
    await caller.put(`/store/inventory/${pet.id}`, { quantity: 1 });
    await expectTold(['inventory.updated', stockOf(pet.id)], ['pet.updated', petOf(pet.id)]);
  });
});

it('Requests that change nothing or are refused report nothing', async () => {
  const { body: item } = await caller.get<InventoryItem>(`/store/inventory/${pet.id}`);
  const answers = [
    await caller.patch(`/pets/${pet.id}`, {}),
    await caller.patch(`/pets/${pet.id}`, { name: pet.name }),
    await caller.put(`/store/inventory/${pet.id}`, { quantity: item.quantity }),
    await caller.post('/store/orders', { petId: pet.id, quantity: 4 }),
    await caller.post('/pets', { name: 'Ada', categoryId: 4_711 }),
    await caller.delete(`/categories/${pet.categoryId}`),
    await caller.with({ 'If-Match': '"stale"' }).patch(`/pets/${pet.id}`, { name: 'Stale' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 409, 422, 409, 412]);
  await expectTold();
});

it('Changes of one pet in a shared transaction are reported individually, each with its own result', async () => {
  const names = ['Ada', 'Bea', 'Cleo', 'Dora'];
  const answers = await Promise.all(names.map((name) => caller.patch<Pet>(`/pets/${pet.id}`, { name })));
  const events = await feed.readAll(caller);
  expect(events.map(({ data }) => data.name).sort()).toEqual(names);
  expect(events.at(-1)!.data).toEqual(await petOf(pet.id)());
  expect(answers.map(({ body }) => body)).toEqual(expect.arrayContaining(events.map(({ data }) => data)));
  expect([...events].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))).toEqual(events);
  expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(names.length);
});
