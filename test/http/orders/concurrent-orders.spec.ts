import { type InventoryItem, type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('concurrent requests', () => {
  const { caller, arrange } = useStore();

  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;

  /** How often each status (and code, of errors) was answered. */
  function tally(answers: { status: number; body: unknown }[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, body } of answers) {
      const code = (body as { code?: string } | undefined)?.code;
      const name = code === undefined ? String(status) : `${status} ${code}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  it('place 50 of 200 orders for 50 units, refuse 150, and leave no stock', async () => {
    const { id: petId } = await arrange.pet(aPet(), 50);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => caller.post<Order>('/store/orders', { petId })),
    );
    expect(tally(answers)).toEqual({ 201: 50, '409 pet_not_available': 150 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'pending' });
    const orders = await caller.get<Order[]>(`/store/orders?petId=${petId}&limit=100`);
    expect(orders.body).toHaveLength(50);
  });

  it('complete an order twice with 200, and sell the pet once', async () => {
    const { id: petId } = await arrange.pet();
    const { id } = await arrange.order(petId);
    const answers = await Promise.all(
      [1, 2].map(() => caller.patch<Order>(`/store/orders/${id}`, { complete: true })),
    );
    expect(tally(answers)).toEqual({ 200: 2 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
  });

  it('complete the last two orders of a pet, and leave it sold', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: petId } = await arrange.pet(aPet(), 2);
      const orders = [await arrange.order(petId), await arrange.order(petId)];
      await Promise.all(orders.map(({ id }) => caller.patch(`/store/orders/${id}`, { complete: true })));
      expect(await inventory(petId)).toEqual({ petId, quantity: 0, status: 'sold' });
    }
  });

  it('cancel an order ten times, and return its units once', async () => {
    const { id: petId } = await arrange.pet(aPet(), 3);
    const { id } = await arrange.order(petId, { quantity: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.delete(`/store/orders/${id}`)));
    expect(tally(answers)).toEqual({ 204: 1, '404 order_not_found': 9 });
    expect(await inventory(petId)).toEqual({ petId, quantity: 3, status: 'available' });
  });

  it('to complete and to cancel an order: exactly one succeeds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: petId } = await arrange.pet();
      const { id } = await arrange.order(petId);
      const [completed, cancelled] = await Promise.all([
        caller.patch<Order>(`/store/orders/${id}`, { complete: true }),
        caller.delete(`/store/orders/${id}`),
      ]);
      const happened = `${completed.status} ${cancelled.status}`;
      const expected = { '200 409': [0, 'sold'], '404 204': [1, 'available'] }[happened];
      const { quantity, status } = await inventory(petId);
      expect([happened, quantity, status]).toEqual([happened, ...(expected ?? ['one of the two'])]);
    }
  });

  it('to delete a pet and to order it: exactly one succeeds', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { id: petId } = await arrange.pet();
      const race = [
        () => caller.delete(`/pets/${petId}`),
        () => caller.post<Order>('/store/orders', { petId }),
      ];
      // Both orders of sending, so that neither side always wins.
      const answers = await Promise.all((round % 2 === 0 ? race : race.toReversed()).map((send) => send()));
      const statuses = answers.map(({ status }) => status).sort();
      expect([
        [201, 409],
        [204, 422],
      ]).toContainEqual(statuses);
    }
  });

  it('with the same If-Match: exactly one succeeds', async () => {
    const { id: petId } = await arrange.pet();
    const etag = (await caller.get(`/store/inventory/${petId}`)).headers.get('etag')!;
    const holder = caller.with({ 'If-Match': etag });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        holder.put<InventoryItem>(`/store/inventory/${petId}`, { quantity: 10 + index }),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 1, '412 precondition_failed': 9 });
    const winner = answers.find(({ status }) => status === 200)!;
    expect(await inventory(petId)).toEqual(winner.body);
  });
});
