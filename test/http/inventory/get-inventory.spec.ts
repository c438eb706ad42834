import { type InventoryItem, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

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

  it('304: returns no body for a current ETag, and the new entry after a change', async () => {
    const { id } = await arrange.pet();
    const first = await caller.get<InventoryItem>(`/store/inventory/${id}`);
    const holder = caller.with({ 'If-None-Match': first.headers.get('etag')! });
    const held = await holder.get(`/store/inventory/${id}`);
    expect(held).toMatchObject({ status: 304, text: '' });
    expect(held.headers.get('etag')).toBe(first.headers.get('etag'));
    await arrange.order(id);
    expect(await holder.get(`/store/inventory/${id}`)).toMatchObject({
      status: 200,
      body: { quantity: 0, status: 'pending' },
    });
  });

  it('404: a pet that never existed, and a deleted one', async () => {
    const { id } = await arrange.pet();
    await caller.delete(`/pets/${id}`);
    for (const petId of [id, 9_007_199_254_740_991]) {
      const answer = await caller.get(`/store/inventory/${petId}`);
      expect(answer.body).toMatchObject({ code: 'pet_not_found', status: 404 });
    }
  });

  it.each(['0', '-1', '01', '1.0', '1e3', 'x', '9007199254740992', '%20'])(
    '400: %s is not a petId',
    async (petId) => {
      const answer = await caller.get(`/store/inventory/${petId}`);
      expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    },
  );
});
