import { KeysService } from '../../../src/modules/auth';
import type { ApiClient } from '../../support/api-client';
import { Arrange, type InventoryItem, type Pet, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

interface Case {
  path: string;
  body: object;
  status: number;
  /** How much of what the operation makes there is. */
  count: string;
}

describe('the same Idempotency-Key and body', () => {
  let service: TestService;
  let caller: ApiClient;
  let arrange: Arrange;
  let keys = 0;

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    arrange = new Arrange(caller);
  });

  afterAll(() => service.close());

  const withNewKey = (client = caller) => client.with({ 'Idempotency-Key': `key ${(keys += 1)}` });
  const count = async (sql: string) =>
    Number((await service.database.pool.query<{ count: string }>(sql)).rows[0]!.count);

  const cases: Record<string, () => Promise<Case>> = {
    createPet: async () => {
      const { id } = await arrange.category();
      const body = aPet().inCategory(id).build();
      return { path: '/pets', body, status: 201, count: 'SELECT count(*) FROM pets' };
    },
    createCategory: () => {
      const body = { name: 'Kätzchen 🐈', description: 'Small cats' };
      const count = 'SELECT count(*) FROM categories';
      return Promise.resolve({ path: '/categories', body, status: 201, count });
    },
    placeOrder: async () => {
      const { id: petId } = await arrange.pet(aPet(), 5);
      const body = { petId, quantity: 2, shipDate: '2026-12-01T00:00:00Z' };
      return { path: '/store/orders', body, status: 201, count: 'SELECT count(*) FROM orders' };
    },
    adjustInventory: async () => {
      const { id } = await arrange.pet();
      const path = `/store/inventory/${id}/adjustments`;
      return { path, body: { delta: 3 }, status: 200, count: 'SELECT sum(quantity) AS count FROM inventory' };
    },
  };

  it.each(Object.keys(cases))('%s: repeats the response, and runs once', async (operation) => {
    const { path, body, status, count: sql } = await cases[operation]!();
    const before = await count(sql);
    const sender = withNewKey();
    const first = await sender.post(path, body);
    expect(first.status).toBe(status);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    const after = await count(sql);
    expect(after).toBeGreaterThan(before);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const again = await sender.post(path, body);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      for (const name of ['etag', 'location', 'content-type']) {
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      }
    }
    expect(await count(sql)).toBe(after);
  });

  it('returns the original response, even after the resource has changed', async () => {
    const { path, body } = await cases.createPet!();
    const sender = withNewKey();
    const first = await sender.post<Pet>(path, body);
    await caller.patch(`/pets/${first.body.id}`, { name: 'Max' });
    expect((await sender.post<Pet>(path, body)).text).toBe(first.text);
    await caller.delete(`/pets/${first.body.id}`);
    expect(await sender.post<Pet>(path, body)).toMatchObject({ status: 201, text: first.text });
  });

  it('creates two resources for two keys, and for no key', async () => {
    const body = { name: 'Fish' };
    const senders = [withNewKey(), withNewKey(), caller, caller];
    const ids = new Set<unknown>();
    for (const sender of senders) {
      const answer = await sender.post<{ id: number }>('/categories', body);
      expect(answer.headers.has('idempotent-replayed')).toBe(false);
      ids.add(answer.body.id);
    }
    expect(ids.size).toBe(4);
  });

  it('is independent of the same key of another client', async () => {
    const { id } = await arrange.pet();
    const path = `/store/inventory/${id}/adjustments`;
    for (const [client, quantity] of [
      [caller, 2],
      [await service.caller(), 3],
    ] as const) {
      const answer = await client
        .with({ 'Idempotency-Key': 'the same' })
        .post<InventoryItem>(path, { delta: 1 });
      expect(answer).toMatchObject({ status: 200, body: { quantity } });
      expect(answer.headers.has('idempotent-replayed')).toBe(false);
    }
  });

  it('belongs to the client, so that its other API keys can retry the request', async () => {
    const { key, client } = await service.issueKey();
    const { key: second } = await service.app.get(KeysService).issue({ client });
    const sender = (apiKey: string) =>
      service.anonymous().with({ 'X-API-Key': apiKey, 'Idempotency-Key': 'shared' });
    const first = await sender(key).post('/categories', { name: 'Reptiles' });
    const again = await sender(second).post('/categories', { name: 'Reptiles' });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});
