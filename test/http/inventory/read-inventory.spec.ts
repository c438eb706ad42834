import type { Answer, ErrorBody } from '../../support/api-client';
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

  it.each([
    ['?status=gone', 'validation_failed', 'status'],
    ['?status=', 'validation_failed', 'status'],
  ])('400: %s is %s and the message names %s', async (query, code, name) => {
    const answer = await caller.get<ErrorBody>(`/store/inventory${query}`);
    expect(answer.body).toMatchObject({ code, status: 400 });
    expect(answer.body.message).toContain(name);
  });
});

describe('GET /store/inventory/{petId}', () => {
  const { caller, arrange } = useStore();
  it.each([
    ['available', aPet(), 1],
    ['pending', aPet().pending(), 1],
    ['sold', aPet().sold(), 0],
  ])('200: a pet created as %s has an entry at once', async (status, builder, quantity) => {
    const { id } = await arrange.pet(builder);
    const answer = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    expect(answer).toMatchObject({ status: 200, body: { petId: id, quantity, status } });
    expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  });

  it('200: the status is that of the pet, whatever changes it', async () => {
    const { id } = await arrange.pet();
    await caller.patch(`/pets/${id}`, { status: 'sold' });
    const { body } = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    expect(body).toEqual({ petId: id, quantity: 1, status: 'sold' });
  });

  it('404: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 9_007_199_254_740_991]) {
      const answer = await caller.get(`/store/inventory/${petId}`);
      expect(answer.body).toMatchObject({ code: 'pet_not_found', status: 404 });
    }
  });
});
