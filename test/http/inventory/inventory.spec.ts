import type { Answer } from '../../support/api-client';
import { type InventoryItem, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('GET /store/inventory', () => {
  const { caller, arrange } = useStore();
  /** Six entries: available 1, available 7, pending 1, pending 0, sold 0, and a deleted one that must not show. */
  let expected: InventoryItem[];

  beforeAll(async () => {
    const one = await arrange.pet();
    const seven = await arrange.pet(aPet(), 7);
    const pending = await arrange.pet(aPet().pending());
    const reserved = await arrange.pet();
    await arrange.order(reserved.id);
    const sold = await arrange.pet(aPet().sold());
    const deleted = await arrange.pet();
    await caller.delete(`/pets/${deleted.id}`);
    expected = [
      { petId: one.id, quantity: 1, status: 'available' },
      { petId: seven.id, quantity: 7, status: 'available' },
      { petId: pending.id, quantity: 1, status: 'pending' },
      { petId: reserved.id, quantity: 0, status: 'pending' },
      { petId: sold.id, quantity: 0, status: 'sold' },
    ];
  });

  it('200: returns every entry in ascending order of petId, without deleted pets and without a next page', async () => {
    const answer = await caller.get<InventoryItem[]>('/store/inventory');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(expected);
    expect(answer.headers.has('link')).toBe(false);
  });

  it.each([
    ['?status=available', [0, 1]],
    ['?status=pending', [2, 3]],
    ['?status=sold', [4]],
    ['?status=sold&status=pending', [2, 3, 4]],
    ['?status=pending&limit=1', [2]],
  ])('200: %s returns the entries %j', async (query, indexes) => {
    const answer = await caller.get<InventoryItem[]>(`/store/inventory${query}`);
    expect(answer.body).toEqual(indexes.map((index) => expected[index]));
  });

  it('200: pages link to each other with the filter, without repeating or skipping entries', async () => {
    const pages: InventoryItem[][] = [];
    let target: string | undefined = '/store/inventory?limit=1&status=available&status=pending';
    while (target !== undefined) {
      const answer: Answer<InventoryItem[]> = await caller.get(target);
      pages.push(answer.body);
      target = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    expect(pages).toEqual(expected.slice(0, 4).map((entry) => [entry]));
  });
});

describe('changes of the stock', () => {
  const MOST = 2_147_483_647;
  const { caller, arrange } = useStore();
  const adjust = (petId: number, delta: number) =>
    caller.post<InventoryItem>(`/store/inventory/${petId}/adjustments`, { delta });

  it('200: no concurrent adjustment is lost', async () => {
    const { id } = await arrange.pet(aPet(), 100);
    const deltas = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 3 : -1));
    const answers = await Promise.all(deltas.map((delta) => adjust(id, delta)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 100 + 90 - 30 });
  });

  it('400: rejects a stock above the maximum', async () => {
    const { id } = await arrange.pet(aPet(), MOST);
    expect((await adjust(id, 1)).body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: MOST });
  });

  it('a cancelled order leaves a stock at the maximum there', async () => {
    const { id } = await arrange.pet();
    const order = await arrange.order(id);
    await caller.put(`/store/inventory/${id}`, { quantity: MOST });
    expect((await caller.delete(`/store/orders/${order.id}`)).status).toBe(204);
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: MOST });
  });
});
