import type { ApiClient } from '../../support/api-client';
import { Arrange, type InventoryItem, type Order, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

describe('two instances on one database', () => {
  let one: TestService;
  let other: TestService;
  let callers: ApiClient[];
  let arrange: Arrange;

  beforeAll(async () => {
    one = await startService();
    other = await startService({ database: one.database });
    const { key } = await one.issueKey();
    callers = [one, other].map((service) => service.anonymous().with({ 'X-API-Key': key }));
    arrange = new Arrange(callers[0]!);
  });

  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const fromBoth = <Result>(count: number, send: (caller: ApiClient) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, index) => send(callers[index % 2]!)));

  it('execute requests with the same Idempotency-Key once', async () => {
    const { id: petId } = await arrange.pet(aPet(), 50);
    const answers = await fromBoth(30, (caller) =>
      caller.with({ 'Idempotency-Key': 'both' }).post<Order>('/store/orders', { petId }),
    );
    const placed = answers.filter(({ status }) => status === 201);
    expect(new Set(placed.map(({ body }) => body.id)).size).toBe(1);
    expect(placed.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    const { body } = await callers[1]!.get<InventoryItem>(`/store/inventory/${petId}`);
    expect(body.quantity).toBe(49);
  });

  it('replay responses of the other instance', async () => {
    const [first, second] = callers.map((caller) => caller.with({ 'Idempotency-Key': 'in turn' }));
    const answer = await first!.post('/categories', { name: 'Dogs' });
    const replayed = await second!.post('/categories', { name: 'Dogs' });
    expect(replayed.text).toBe(answer.text);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  });

  it('never sell a unit twice', async () => {
    const { id: petId } = await arrange.pet(aPet(), 10);
    const answers = await fromBoth(60, (caller) => caller.post('/store/orders', { petId, complete: true }));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const { body } = await callers[1]!.get<InventoryItem>(`/store/inventory/${petId}`);
    expect(body).toEqual({ petId, quantity: 0, status: 'sold' });
  });
});
