import fc from 'fast-check';
import { Arrange, type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
import { type Outcome, type Step, StoreModel } from './store-model';
import { useStore } from '../../support/use-service';

const anyStatus = fc.constantFrom<Pet['status']>('available', 'pending', 'sold');
const anOrderChange = fc.record({
  do: fc.constantFrom('complete' as const, 'reopen' as const, 'cancel' as const),
  order: fc.nat(3),
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: aPlacing() },
  { weight: 6, arbitrary: anOrderChange },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('set' as const), quantity: fc.nat(6) }) },
  { weight: 3, arbitrary: anAdjustment() },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change status' as const), status: anyStatus }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'delete' }) },
);

function aPlacing(): fc.Arbitrary<Step> {
  const quantity = fc.integer({ min: 1, max: 3 });
  return fc.record({ do: fc.constant('place' as const), quantity, complete: fc.boolean() });
}

function anAdjustment(): fc.Arbitrary<Step> {
  const delta = fc.integer({ min: -3, max: 3 }).filter((units) => units !== 0);
  return fc.record({ do: fc.constant('adjust' as const), delta });
}

/** Begins with some stock, or hardly any order would ever be placed. */
const anyHistory = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.array(anyStep, { minLength: 10, maxLength: 18 }))
  .map(([quantity, steps]): Step[] => [{ do: 'set', quantity }, ...steps]);

describe('the store', () => {
  const { caller } = useStore();

  /** Takes one step through the interface; remembers the orders that it placed. */
  async function take(step: Step, petId: number, orders: number[]): Promise<Outcome> {
    const answer = await send(step, petId, orders);
    if (answer.status >= 400) {
      return (answer.body as { code: string }).code;
    }
    if (step.do === 'place') {
      orders.push((answer.body as Order).id);
    }
    return answer.status;
  }

  function send(step: Step, petId: number, orders: number[]) {
    const order = 'order' in step ? (orders[step.order % orders.length] ?? 999_999_999) : 0;
    switch (step.do) {
      case 'set':
        return caller.put<unknown>(`/store/inventory/${petId}`, { quantity: step.quantity });
      case 'adjust':
        return caller.post<unknown>(`/store/inventory/${petId}/adjustments`, { delta: step.delta });
      case 'place':
        return caller.post<unknown>('/store/orders', {
          petId,
          quantity: step.quantity,
          complete: step.complete,
        });
      case 'complete':
      case 'reopen':
        return caller.patch<unknown>(`/store/orders/${order}`, { complete: step.do === 'complete' });
      case 'cancel':
        return caller.delete<unknown>(`/store/orders/${order}`);
      case 'change status':
        return caller.patch<unknown>(`/pets/${petId}`, { status: step.status });
      case 'delete':
        return caller.delete<unknown>(`/pets/${petId}`);
    }
  }

  it('follows its rules for every sequence of operations', async () => {
    const arrange = new Arrange(caller);
    const builders = { available: aPet(), pending: aPet().pending(), sold: aPet().sold() };
    await fc.assert(
      fc.asyncProperty(anyStatus, anyHistory, async (status, steps) => {
        const { id: petId } = await arrange.pet(builders[status]);
        const model = new StoreModel(status);
        const orders: number[] = [];
        for (const step of steps) {
          const expected = model.take(step);
          expect(await take(step, petId, orders)).toBe(expected);
          const item = await caller.get<InventoryItem>(`/store/inventory/${petId}`);
          expect(item).toMatchObject(
            model.deleted
              ? { status: 404 }
              : { status: 200, body: { petId, quantity: model.stock, status: model.status } },
          );
        }
      }),
      { numRuns: 20 },
    );
  });
});
