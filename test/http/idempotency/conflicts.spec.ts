import { type Category, type InventoryItem, type Order, aPet } from '../../support/builders';
import { whileLocked } from '../../support/while-locked';
import { useStore } from '../../support/use-service';

describe('an Idempotency-Key that is in use', () => {
  const { service, caller, arrange } = useStore();
  let keys = 0;

  const withNewKey = () => caller.with({ 'Idempotency-Key': `conflict-${(keys += 1)}` });
  const REUSED = { code: 'idempotency_key_reused', status: 422 };
  const IN_PROGRESS = { code: 'idempotency_in_progress', status: 409 };

  it.each([
    '{"name":"Cats"}',
    '{"name":"Dogs","description":"Barking"}',
    '{}',
    '{"name":""}',
    '{ "name": "Dogs" }',
    '',
  ])('422: with a body that differs in any byte: %j', async (other) => {
    const sender = withNewKey();
    const first = await sender.post<Category>('/categories', { name: 'Dogs' });
    const refused = await sender.post('/categories', other);
    expect(refused.body).toMatchObject(REUSED);
    expect(refused.headers.has('idempotent-replayed')).toBe(false);
    const again = await sender.post<Category>('/categories', { name: 'Dogs' });
    expect(again.text).toBe(first.text);
  });

  it('422: on another operation, even with the same body', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const sender = withNewKey();
    await sender.post('/categories', { petId });
    expect((await sender.post('/store/orders', { petId })).body).toMatchObject(REUSED);
    expect((await caller.get(`/store/inventory/${petId}`)).body).toMatchObject({ quantity: 5 });
  });

  it('422: on another resource', async () => {
    const [one, other] = [await arrange.pet(), await arrange.pet()];
    const sender = withNewKey();
    await sender.post(`/store/inventory/${one.id}/adjustments`, { delta: 1 });
    const refused = await sender.post(`/store/inventory/${other.id}/adjustments`, { delta: 1 });
    expect(refused.body).toMatchObject(REUSED);
    expect((await caller.get(`/store/inventory/${other.id}`)).body).toMatchObject({ quantity: 1 });
  });

  it('409: while the first request is running, and the 409 is not stored', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const sender = withNewKey();
    const { first } = await whileLocked(service.database.pool, petId, async () => {
      const running = sender.post<Order>('/store/orders', { petId });
      await untilClaimed();
      // What the first one asks for is not known yet, so another body learns the same.
      for (const quantity of [1, 2]) {
        expect((await sender.post('/store/orders', { petId, quantity })).body).toMatchObject(IN_PROGRESS);
      }
      return { first: running };
    });
    expect((await first).status).toBe(201);
    const third = await sender.post<Order>('/store/orders', { petId });
    expect(third).toMatchObject({ status: 201, text: (await first).text });
    expect(third.headers.get('idempotent-replayed')).toBe('true');
  });

  /** Resolves once a request holds the claim of an Idempotency-Key. */
  async function untilClaimed(): Promise<void> {
    // The locks by which instances know of each other have two keys, and another number here.
    const sql = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND datname = current_database()`;
    let claims = 0;
    while (claims === 0) {
      claims = (await service.database.pool.query(sql)).rowCount ?? 0;
    }
  }

  it.each([
    ['placeOrder', '/store/orders', (petId: number) => ({ petId })],
    ['adjustInventory', '/store/inventory/<pet>/adjustments', () => ({ delta: -1 })],
  ])(
    '%s: of 20 concurrent requests exactly one is executed; the others wait, or replay it',
    async (_, path, body) => {
      const { id: petId } = await arrange.pet(aPet(), 50);
      const sender = withNewKey();
      const target = path.replace('<pet>', String(petId));
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => sender.post<unknown>(target, body(petId))),
      );
      const done = answers.filter(({ status }) => status < 300);
      const first = done.filter(({ headers }) => !headers.has('idempotent-replayed'));
      expect(first).toHaveLength(1);
      expect(new Set(done.map(({ text }) => text))).toEqual(new Set([first[0]!.text]));
      for (const { body: refusal } of answers.filter((answer) => !done.includes(answer))) {
        expect(refusal).toMatchObject(IN_PROGRESS);
      }
      const { body: item } = await caller.get<InventoryItem>(`/store/inventory/${petId}`);
      expect(item.quantity).toBe(49);
    },
  );
});
