import { type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('GET /store/orders', () => {
  const { caller, arrange } = useStore();
  let petId: number;
  /** Open, complete, of another pet, of a deleted pet. A cancelled one stands in between and must not show. */
  let orders: Order[];

  beforeAll(async () => {
    petId = (await arrange.pet(aPet(), 10)).id;
    const other = (await arrange.pet(aPet(), 10)).id;
    const deleted = (await arrange.pet()).id;
    orders = [
      await arrange.order(petId, { quantity: 2 }),
      await arrange.order(petId, { complete: true, shipDate: '2026-12-01T00:00:00.000Z' }),
    ];
    const cancelled = await arrange.order(petId);
    orders.push(await arrange.order(other), await arrange.order(deleted, { complete: true }));
    await caller.delete(`/store/orders/${cancelled.id}`);
    await caller.delete(`/pets/${deleted}`);
  });

  it('200: returns every order in ascending order of id, without cancelled ones and without a next page', async () => {
    const answer = await caller.get<Order[]>('/store/orders');
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual(orders);
    expect(answer.headers.has('link')).toBe(false);
  });

  it.each([
    ['petId=<pet>', [0, 1]],
    ['complete=false', [0, 2]],
    ['complete=true', [1, 3]],
    ['petId=<pet>&complete=true', [1]],
    ['petId=9007199254740991', []],
  ])('200: %s returns the orders %j', async (query, indexes) => {
    const answer = await caller.get<Order[]>(`/store/orders?${query.replace('<pet>', String(petId))}`);
    expect(answer.body).toEqual(indexes.map((index) => orders[index]));
  });

  it('200: pages stay consistent while orders are placed and cancelled', async () => {
    const pet = await arrange.pet(aPet(), 10);
    const placed: Order[] = [];
    for (let count = 0; count < 5; count += 1) {
      placed.push(await arrange.order(pet.id));
    }
    const next = (headers: Headers) => /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')![1]!;
    const first = await caller.get<Order[]>(`/store/orders?petId=${pet.id}&complete=false&limit=2`);
    expect(first.body).toEqual(placed.slice(0, 2));
    await caller.delete(`/store/orders/${placed[0]!.id}`);
    await caller.delete(`/store/orders/${placed[1]!.id}`);
    const second = await caller.get<Order[]>(next(first.headers));
    expect(second.body).toEqual(placed.slice(2, 4));
    const late = await arrange.order(pet.id);
    const third = await caller.get<Order[]>(next(second.headers));
    expect(third.body).toEqual([placed[4], late]);
    expect(third.headers.has('link')).toBe(false);
    for (const { id } of [...placed.slice(2), late]) {
      await caller.delete(`/store/orders/${id}`);
    }
  });
});
