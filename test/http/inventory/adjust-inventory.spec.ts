import type { ErrorBody } from '../../support/api-client';
import { type InventoryItem, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const MOST = 2_147_483_647;

describe('POST /store/inventory/{petId}/adjustments', () => {
  const { caller, arrange } = useStore();

  const adjust = (petId: number, delta: unknown) =>
    caller.post<InventoryItem>(`/store/inventory/${petId}/adjustments`, { delta });
  const builders = { available: aPet(), pending: aPet().pending(), sold: aPet().sold() };

  it.each([
    ['available', 2, 3, 'available'],
    ['pending', 2, 3, 'available'],
    ['sold', 1, 1, 'available'],
    ['available', -1, 0, 'available'],
    ['pending', -1, 0, 'pending'],
    ['sold', MOST, MOST, 'available'],
  ] as const)('200: a new %s pet adjusted by %i has %i and is %s', async (before, delta, quantity, after) => {
    const { id } = await arrange.pet(builders[before]);
    const answer = await adjust(id, delta);
    expect(answer).toMatchObject({ status: 200, body: { petId: id, quantity, status: after } });
    const read = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
  });

  it('200: taking units of a pending pet does not make it available', async () => {
    const { id } = await arrange.pet(aPet(), 5);
    await caller.patch(`/pets/${id}`, { status: 'pending' });
    expect((await adjust(id, -2)).body).toEqual({ petId: id, quantity: 3, status: 'pending' });
  });

  it('200: no concurrent adjustment is lost', async () => {
    const { id } = await arrange.pet(aPet(), 100);
    const deltas = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 3 : -1));
    const answers = await Promise.all(deltas.map((delta) => adjust(id, delta)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 100 + 90 - 30 });
  });

  it.each([0, 1.5, '1', null, true, 2_147_483_648, -2_147_483_648])(
    '400: rejects a delta of %j',
    async (delta) => {
      const { id } = await arrange.pet();
      const answer = (await adjust(id, delta)) as unknown as { body: ErrorBody };
      expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(answer.body.message).toContain('delta');
      expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 1 });
    },
  );

  it.each(['{}', '{"delta":-0}', '{"delta":1e400}', '{"delta":1,"quantity":1}', ''])(
    '400: rejects the body %j',
    async (body) => {
      const { id } = await arrange.pet();
      const answer = await caller.post(`/store/inventory/${id}/adjustments`, body);
      expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    },
  );

  it('400: rejects a stock above the maximum', async () => {
    const { id } = await arrange.pet(aPet(), MOST);
    expect((await adjust(id, 1)).body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: MOST });
  });

  it('404: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 999_999]) {
      expect((await adjust(petId, 1)).body).toMatchObject({ code: 'pet_not_found', status: 404 });
    }
  });

  it('409: a stock below zero is refused and stays', async () => {
    const { id } = await arrange.pet(aPet(), 3);
    for (const delta of [-4, -MOST]) {
      expect((await adjust(id, delta)).body).toMatchObject({ code: 'insufficient_stock', status: 409 });
    }
    expect((await caller.get(`/store/inventory/${id}`)).body).toMatchObject({ quantity: 3 });
  });

  it('409: units of open orders cannot be taken', async () => {
    const { id } = await arrange.pet(aPet(), 3);
    await arrange.order(id, { quantity: 2 });
    expect((await adjust(id, -2)).body).toMatchObject({ code: 'insufficient_stock', status: 409 });
    expect((await adjust(id, -1)).body).toMatchObject({ quantity: 0, status: 'available' });
  });
});
