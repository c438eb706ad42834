import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, type Pet, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('PUT /pets/{petId}', () => {
  let service: TestService;
  let caller: ApiClient;
  let arrange: Arrange;
  let pet: Pet;
  let target: string;
  let body: { name: string; categoryId: number };

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    arrange = new Arrange(caller);
  });
  beforeEach(async () => {
    pet = await arrange.pet(aPet().pending());
    target = `/pets/${pet.id}`;
    body = { name: 'Max', categoryId: pet.categoryId };
  });
  afterAll(() => service.close());

  describe('200', () => {
    it('sets every field, and keeps the id', async () => {
      const { id: categoryId } = await arrange.category();
      const answer = await caller.put<Pet>(target, { name: 'Max', categoryId, status: 'sold' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ id: pet.id, name: 'Max', categoryId, status: 'sold' });
    });

    test.each([
      ['available', aPet()],
      ['pending', aPet().pending()],
      ['sold', aPet().sold()],
    ])('sets an omitted status to `available`: for a pet that is %s', async (_status, builder) => {
      const { id, categoryId } = await arrange.pet(builder);
      const { body: replaced } = await caller.put<Pet>(`/pets/${id}`, { name: 'Max', categoryId });
      expect(replaced.status).toBe('available');
    });

    it('returns what the next GET returns, with its ETag', async () => {
      const replaced = await caller.put(target, body);
      const got = await caller.get(target);
      expect(replaced.text).toBe(got.text);
      expect(replaced.headers.get('etag')).toBe(got.headers.get('etag'));
    });

    it('changes the status of the inventory entry too, and not its quantity', async () => {
      await caller.put(target, { ...body, status: 'sold' });
      const { body: item } = await caller.get<InventoryItem>(`/store/inventory/${pet.id}`);
      expect(item).toEqual({ petId: pet.id, quantity: 1, status: 'sold' });
    });
  });

  it('400: rejects an invalid body and changes nothing', async () => {
    const { body: error } = await caller.put<ErrorBody>(target, { ...body, status: 'lost' });
    expect(error).toMatchObject({ code: 'validation_failed', status: 400 });
    expect((await caller.get(target)).body).toEqual(pet);
  });

  it('403: changes nothing without the scope write', async () => {
    const reader = await service.caller({ scopes: ['read'] });
    expect((await reader.put<ErrorBody>(target, body)).body.code).toBe('insufficient_scope');
    expect((await caller.get(target)).body).toEqual(pet);
  });

  it('404: does not create a missing pet', async () => {
    const { body: error } = await caller.put<ErrorBody>('/pets/4711', body);
    expect(error).toMatchObject({ code: 'pet_not_found', status: 404 });
    expect((await caller.get('/pets?id=4711')).body).toEqual([]);
  });

  describe('412', () => {
    it('rejects a change based on an outdated ETag', async () => {
      const { headers } = await caller.get(target);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      expect((await holder.put(target, body)).status).toBe(200);
      const stale = await holder.put<ErrorBody>(target, { ...body, name: 'Bello' });
      expect(stale.body).toMatchObject({ code: 'precondition_failed', status: 412 });
      expect((await caller.get<Pet>(target)).body.name).toBe('Max');
    });

    it('rejects a change of a pet whose status an order has changed', async () => {
      const ordered = await arrange.pet();
      const { headers } = await caller.get(`/pets/${ordered.id}`);
      await arrange.order(ordered.id);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      expect((await holder.put(`/pets/${ordered.id}`, body)).status).toBe(412);
    });

    it('accepts exactly one of ten changes with the same ETag', async () => {
      const { headers } = await caller.get(target);
      const holder = caller.with({ 'If-Match': headers.get('etag')! });
      const names = Array.from({ length: 10 }, (_, index) => `Max ${index}`);
      const answers = await Promise.all(names.map((name) => holder.put<Pet>(target, { ...body, name })));
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
      expect((await caller.get(target)).text).toBe(winners[0]!.text);
    });
  });

  it('415: rejects a merge patch', async () => {
    const patcher = caller.with({ 'Content-Type': 'application/merge-patch+json' });
    const { body: error } = await patcher.put<ErrorBody>(target, body);
    expect(error).toMatchObject({ code: 'unsupported_media_type', status: 415 });
  });

  it('422: rejects a category that does not exist and changes nothing', async () => {
    const { body: error } = await caller.put<ErrorBody>(target, { ...body, categoryId: 4_711 });
    expect(error).toMatchObject({ code: 'unknown_category', status: 422 });
    expect((await caller.get(target)).body).toEqual(pet);
  });
});
