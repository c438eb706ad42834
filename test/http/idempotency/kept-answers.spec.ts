import { KeysService } from '../../../src/modules/auth';
import type { Answer, ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, type Order, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('an error under an Idempotency-Key', () => {
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

  const newKey = () => ({ 'Idempotency-Key': `kept-${(keys += 1)}` });
  const noCategory = async () => {
    const { id } = await arrange.category('Gone');
    await caller.delete(`/categories/${id}`);
    return id;
  };
  const restock = (petId: number) => caller.put<InventoryItem>(`/store/inventory/${petId}`, { quantity: 9 });

  /** A request that is refused, and what takes the cause away so that the same request would succeed. */
  const refusals: Record<string, () => Promise<[path: string, body: object, cure?: () => Promise<unknown>]>> =
    {
      '409 pet_not_available': async () => {
        const { id: petId } = await arrange.pet(aPet().pending());
        return ['/store/orders', { petId }, () => restock(petId)];
      },
      '409 insufficient_stock': async () => {
        const { id: petId } = await arrange.pet(aPet(), 2);
        return [`/store/inventory/${petId}/adjustments`, { delta: -3 }, () => restock(petId)];
      },
      '422 unknown_pet': () => Promise.resolve(['/store/orders', { petId: 999_999 }]),
      '422 unknown_category': async () => ['/pets', { name: 'Rex', categoryId: await noCategory() }],
      '404 pet_not_found': () => Promise.resolve(['/store/inventory/999999/adjustments', { delta: 1 }]),
      '400 validation_failed': () => Promise.resolve(['/categories', { name: 7 }]),
    };

  it.each(Object.keys(refusals))(
    '%s is stored and replayed, even after its cause is gone',
    async (refusal) => {
      const [path, body, cure] = await refusals[refusal]!();
      const sender = caller.with(newKey());
      const first = await sender.post<ErrorBody>(path, body);
      expect(`${first.status} ${first.body.code}`).toBe(refusal);
      expect(first.headers.has('idempotent-replayed')).toBe(false);
      await cure?.();
      const again = await sender.post<ErrorBody>(path, body);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      for (const name of ['etag', 'location']) {
        expect([name, again.headers.has(name)]).toEqual([name, false]);
      }
      const reused = await sender.post<ErrorBody>(path, { ...body, name: 'Other' });
      expect(reused.body).toMatchObject({ code: 'idempotency_key_reused', status: 422 });
    },
  );

  it('409: leaves nothing behind except the stored response', async () => {
    const { id: petId } = await arrange.pet(aPet(), 1);
    const sender = caller.with(newKey());
    await sender.post('/store/orders', { petId, quantity: 2 });
    expect((await caller.get(`/store/inventory/${petId}`)).body).toMatchObject({ quantity: 1 });
    expect((await caller.get(`/store/orders?petId=${petId}`)).body).toEqual([]);
  });

  function expectNotKept(refused: Answer<unknown>, status: number, later: Answer<unknown>): void {
    expect(refused.status).toBe(status);
    expect(refused.headers.has('idempotent-replayed')).toBe(false);
    expect(later.status).toBe(201);
    expect(later.headers.has('idempotent-replayed')).toBe(false);
  }

  it('401 is not stored', async () => {
    const key = newKey();
    const refused = await service.anonymous().with(key).post('/categories', { name: 'Dogs' });
    expectNotKept(refused, 401, await caller.with(key).post('/categories', { name: 'Dogs' }));
  });

  it('403 is not stored', async () => {
    const key = newKey();
    const { key: reading, client } = await service.issueKey({ scopes: ['read'] });
    const { key: writing } = await service.app.get(KeysService).issue({ client });
    const send = (apiKey: string) =>
      service
        .anonymous()
        .with({ ...key, 'X-API-Key': apiKey })
        .post('/categories', { name: 'Dogs' });
    expectNotKept(await send(reading), 403, await send(writing));
  });

  it('429 is not stored', async () => {
    const limited = (await service.caller({ perMinute: 1, perDay: 100 })).with(newKey());
    await limited.get('/categories');
    const refused = await limited.post('/categories', { name: 'Dogs' });
    service.clock.advance(60_000);
    expectNotKept(refused, 429, await limited.post('/categories', { name: 'Dogs' }));
  });

  it('500 is not stored: all of the work is rolled back, and a retry does it', async () => {
    const { pool } = service.database;
    const { id: petId } = await arrange.pet();
    const sender = caller.with(newKey());
    await pool.query(
      `ALTER TABLE idempotency_records ADD CONSTRAINT broken CHECK (fingerprint = '') NOT VALID`,
    );
    const refused = await sender.post<Order>('/store/orders', { petId });
    await pool.query('ALTER TABLE idempotency_records DROP CONSTRAINT broken');
    expect((await caller.get(`/store/inventory/${petId}`)).body).toMatchObject({ quantity: 1 });
    expect((await caller.get(`/store/orders?petId=${petId}`)).body).toEqual([]);
    expectNotKept(refused, 500, await sender.post<Order>('/store/orders', { petId }));
  });
});
