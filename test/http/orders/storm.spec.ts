import fc from 'fast-check';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { Arrange, type InventoryItem, type Order, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';

const STEPS = 300;
const AT_ONCE = 25;
const FIRST_STOCK = 20;

const aStep = fc.record({
  action: fc.constantFrom('place', 'place', 'place', 'cancel', 'complete', 'adjust', 'set', 'offer'),
  pet: fc.nat(2),
  units: fc.integer({ min: 1, max: 4 }),
  chance: fc.nat(1_000),
});
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

/** What a step may be answered when others are faster; anything else, 5xx above all, fails the test. */
const ALLOWED = new Set([
  '200',
  '201',
  '204',
  'pet_not_available',
  'insufficient_stock',
  'order_already_complete',
  'order_not_found',
  'precondition_failed',
]);

describe('a storm of orders, cancellations, completions, adjustments and stock counts on a few pets', () => {
  let service: TestService;
  let caller: ApiClient;
  let pets: number[];
  const placed: Order[] = [];
  const outcomes = new Map<string, number>();
  /** Units that adjustments and counts brought to each pet. */
  const brought = [0, 0, 0];

  beforeAll(async () => {
    service = await startService();
    caller = await service.caller();
    const arrange = new Arrange(caller);
    pets = [];
    for (let count = 0; count < 3; count += 1) {
      pets.push((await arrange.pet(aPet(), FIRST_STOCK)).id);
    }
    const steps = fc.sample(aStep, { numRuns: STEPS, seed: 20_261_121 });
    const worker = async () => {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        const { status, body } = await take(step);
        const outcome = status < 400 ? String(status) : (body as ErrorBody).code;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  });

  afterAll(() => service.close());

  async function take({ action, pet, units, chance }: Step): Promise<{ status: number; body: unknown }> {
    const petId = pets[pet]!;
    const order = placed[chance % placed.length]?.id ?? 999_999;
    switch (action) {
      case 'place': {
        const complete = chance % 4 === 0;
        const answer = await caller.post<Order>('/store/orders', { petId, quantity: units, complete });
        if (answer.status === 201) placed.push(answer.body);
        return answer;
      }
      case 'cancel':
        return caller.delete(`/store/orders/${order}`);
      case 'complete':
        return caller.patch(`/store/orders/${order}`, { complete: true });
      case 'adjust': {
        const delta = chance % 2 === 0 ? units : -units;
        const answer = await caller.post(`/store/inventory/${petId}/adjustments`, { delta });
        if (answer.status === 200) brought[pet]! += delta;
        return answer;
      }
      case 'set':
        return count(pet, units);
      default:
        return caller.patch(`/pets/${petId}`, { status: 'available' });
    }
  }

  /** Sets the stock on the condition that it is still what was read, so that the books know what that brought. */
  async function count(pet: number, quantity: number) {
    const target = `/store/inventory/${pets[pet]}`;
    const before = await caller.get<InventoryItem>(target);
    const answer = await caller
      .with({ 'If-Match': before.headers.get('etag')! })
      .put<InventoryItem>(target, { quantity });
    if (answer.status === 200) brought[pet]! += quantity - before.body.quantity;
    return answer;
  }

  it('returns only successes and the refusals of the rules', () => {
    expect([...outcomes.keys()].filter((outcome) => !ALLOWED.has(outcome))).toEqual([]);
    const successes = ['200', '201', '204'].map((status) => outcomes.get(status) ?? 0);
    expect(Math.min(...successes)).toBeGreaterThan(0);
  });

  it('leaves the stock that the rows add up to: initial stock + adjustments − orders', async () => {
    const { rows } = await service.database.pool.query<{ ordered: number; quantity: number }>(
      `SELECT quantity, (SELECT coalesce(sum(orders.quantity), 0)::int FROM orders
         WHERE orders.pet_id = inventory.pet_id AND cancelled_at IS NULL) AS ordered
       FROM inventory WHERE pet_id = ANY($1) ORDER BY pet_id`,
      [pets],
    );
    expect(rows.map(({ quantity }) => quantity)).toEqual(
      rows.map(({ ordered }, index) => FIRST_STOCK + brought[index]! - ordered),
    );
  });

  it('keeps exactly the orders answered 201, cancelled or not', async () => {
    const { rows } = await service.database.pool.query<{ id: string }>('SELECT id FROM orders ORDER BY id');
    expect(rows.map(({ id }) => Number(id))).toEqual(placed.map(({ id }) => id).sort((a, b) => a - b));
  });
});
