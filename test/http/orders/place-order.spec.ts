import type { ErrorBody } from '../../support/api-client';
import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const MOST = 2_147_483_647;

describe('POST /store/orders', () => {
  const { caller, arrange } = useStore();

  const place = (body: object | string) => caller.post<Order>('/store/orders', body);
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  it('201: needs only a pet; the default is one unit, not complete, without a ship date', async () => {
    const { id: petId } = await arrange.pet(aPet(), 2);
    const answer = await place({ petId });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: expect.any(Number) as number, petId, quantity: 1, complete: false });
    const location = answer.headers.get('location')!;
    expect(location).toBe(`/store/orders/${answer.body.id}`);
    const read = await caller.get<Order>(location);
    expect(read.text).toBe(answer.text);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
  });

  it('201: uses the given values', async () => {
    const { id: petId } = await arrange.pet(aPet(), MOST);
    const body = { petId, quantity: MOST, shipDate: '2026-11-24T09:30:00.000Z', complete: true };
    const answer = await place(body);
    expect(answer).toMatchObject({ status: 201, body });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
  });

  it.each([
    ['{"quantity":1}', 'petId'],
    ['{"petId":0}', 'petId'],
    ['{"petId":"<pet>"}', 'petId'],
    ['{"petId":9007199254740992}', 'petId'],
    ['{"petId":<pet>,"quantity":0}', 'quantity'],
    ['{"petId":<pet>,"quantity":-1}', 'quantity'],
    ['{"petId":<pet>,"quantity":1.5}', 'quantity'],
    ['{"petId":<pet>,"quantity":"1"}', 'quantity'],
    ['{"petId":<pet>,"quantity":null}', 'quantity'],
    ['{"petId":<pet>,"quantity":1e400}', 'quantity'],
    ['{"petId":<pet>,"quantity":2147483648}', 'quantity'],
    ['{"petId":<pet>,"complete":"true"}', 'complete'],
    ['{"petId":<pet>,"complete":null}', 'complete'],
    ['{"petId":<pet>,"shipDate":null}', 'shipDate'],
    ['{"petId":<pet>,"id":1}', 'id'],
    ['{"petId":<pet>,"status":"open"}', 'status'],
    ['[]', 'object'],
    ['', 'body'],
  ])('400: %s is rejected, names %s and takes nothing', async (template, name) => {
    const { id: petId } = await arrange.pet();
    const answer = (await place(template.replace('<pet>', String(petId)))) as unknown as { body: ErrorBody };
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain(name);
    expect(await inventory(petId)).toMatchObject({ quantity: 1, status: 'available' });
  });

  it('422: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 9_007_199_254_740_991]) {
      expect((await place({ petId })).body).toMatchObject({ code: 'unknown_pet', status: 422 });
    }
  });

  it.each([
    ['pending', aPet().pending()],
    ['sold', aPet().sold()],
  ])('409: a %s pet is not available, whatever the quantity', async (status, builder) => {
    const { id: petId } = await arrange.pet(builder);
    for (const quantity of [1, MOST]) {
      const answer = await place({ petId, quantity });
      expect(answer.body).toMatchObject({ code: 'pet_not_available', status: 409 });
    }
    expect(await inventory(petId)).toMatchObject({ status });
  });

  it.each([
    [3, 4],
    [0, 1],
    [1, MOST],
  ])('409: of %i in stock, %i cannot be ordered, and no unit is taken', async (stock, quantity) => {
    const { id: petId } = await arrange.pet(aPet(), stock);
    const answer = await place({ petId, quantity });
    expect(answer.body).toMatchObject({ code: 'insufficient_stock', status: 409 });
    expect(await inventory(petId)).toEqual({ petId, quantity: stock, status: 'available' });
    expect((await caller.get<Order[]>(`/store/orders?petId=${petId}`)).body).toEqual([]);
  });
});
