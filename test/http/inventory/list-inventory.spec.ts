import type { Answer, ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('GET /store/inventory', () => {
  let service: TestService;
  let caller: ApiClient;
  /** Six entries: available 1, available 7, pending 1, pending 0, sold 0, and a deleted one that must not show. */
  let expected: InventoryItem[];

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    const arrange = new Arrange(caller);
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

  afterAll(() => service.close());

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

  it('200: an empty page is an empty array', async () => {
    const [, last] = [...(await caller.get<InventoryItem[]>('/store/inventory')).body].slice(-2);
    const cursor = Buffer.from(`after:${last!.petId}`).toString('base64url');
    const answer = await caller.get<InventoryItem[]>(`/store/inventory?cursor=${cursor}`);
    expect(answer).toMatchObject({ status: 200, body: [] });
  });

  it.each([
    ['?status=gone', 'validation_failed', 'status'],
    ['?status=', 'validation_failed', 'status'],
    ['?limit=0', 'validation_failed', 'limit'],
    ['?limit=101', 'validation_failed', 'limit'],
    ['?limit=1.5', 'validation_failed', 'limit'],
    ['?limit=1&limit=2', 'validation_failed', 'limit'],
    ['?petId=1', 'validation_failed', 'petId'],
    ['?cursor=nonsense', 'invalid_cursor', 'cursor'],
  ])('400: %s is %s and the message names %s', async (query, code, name) => {
    const answer = await caller.get<ErrorBody>(`/store/inventory${query}`);
    expect(answer.body).toMatchObject({ code, status: 400 });
    expect(answer.body.message).toContain(name);
  });
});
