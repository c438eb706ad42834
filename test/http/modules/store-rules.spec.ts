import fc from 'fast-check';
import { type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
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

const open = (quantity = 1): Step => ({ do: 'place', quantity, complete: false });
const set = (quantity: number): Step => ({ do: 'set', quantity });
const adjust = (delta: number): Step => ({ do: 'adjust', delta });
const sale: Step = { do: 'place', quantity: 1, complete: true };
const complete = (order: number): Step => ({ do: 'complete', order });
const remove: Step = { do: 'delete' };
const cancel = (order: number): Step => ({ do: 'cancel', order });
const byHand = (status: Pet['status']): Step => ({ do: 'change status', status });

type Rule = [rule: string, stock: number, steps: Step[], left: number, status: Pet['status'] | 'deleted'];

/** The rules, a sentence at a time: what happens to an available pet with this stock, and what it has then. */
const RULES: Rule[] = [
  ['a pet stays available while an order leaves units', 3, [open(2)], 1, 'available'],
  ['a pet becomes pending when an order takes its last unit', 3, [open(2), open()], 0, 'pending'],
  ['a pet is not sold while an order is open', 2, [open(), open(), complete(0)], 0, 'pending'],
  [
    'a pet is sold when its last order is completed',
    2,
    [open(), open(), complete(0), complete(1)],
    0,
    'sold',
  ],
  ['a pet is not sold while stock is left', 2, [open(), complete(0)], 1, 'available'],
  ['a sale of the last unit sells the pet', 1, [sale], 0, 'sold'],
  ['a sale leaves a pet pending while an order is open', 2, [open(), sale], 0, 'pending'],
  ['a cancelled order makes a pending pet available', 1, [open(), cancel(0)], 1, 'available'],
  ['a pet sold by hand gets its units back', 2, [open(), byHand('sold'), cancel(0)], 2, 'sold'],
  ['completing an order again changes nothing', 1, [sale, set(1), complete(0)], 1, 'available'],
  ['a restocked pet is not sold', 1, [open(), adjust(1), complete(0)], 1, 'available'],
  ['a change by hand leaves the stock', 4, [byHand('pending'), byHand('sold')], 4, 'sold'],
  ['a pending pet cannot be ordered', 3, [byHand('pending'), open()], 3, 'pending'],
  ['a sold pet cannot be ordered', 3, [byHand('sold'), open(4)], 3, 'sold'],
  ['no more can be ordered than is in stock', 3, [open(4)], 3, 'available'],
  ['nothing can be ordered without stock', 0, [open()], 0, 'sold'],
  ['a sold-out pet becomes available when its stock is set', 1, [sale, set(5)], 5, 'available'],
  ['a held pet stays held when its stock is set', 1, [byHand('sold'), set(5)], 5, 'sold'],
  ['a pet whose stock is set to nothing is sold', 1, [set(0)], 0, 'sold'],
  ['a held pet whose stock is set to nothing is sold', 1, [byHand('pending'), set(0)], 0, 'sold'],
  ['stock set to nothing makes a pet with an order pending', 3, [open(), set(0)], 0, 'pending'],
  ['units added to nothing make a pet available', 1, [open(), adjust(2)], 2, 'available'],
  ['a held pet stays held when units are added', 1, [byHand('pending'), adjust(2)], 3, 'pending'],
  ['the last unit that is taken away sells the pet', 2, [adjust(-2)], 0, 'sold'],
  [
    'a held pet stays held when an order is cancelled',
    3,
    [open(), open(), byHand('pending'), cancel(0)],
    2,
    'pending',
  ],
  ['a held pet can be offered again', 2, [byHand('sold'), byHand('available')], 2, 'available'],
  ['a pet without stock cannot be offered', 1, [sale, byHand('available')], 0, 'sold'],
  ['a pet that waits for its last order cannot be offered', 1, [open(), byHand('available')], 0, 'pending'],
  ['taken units leave the status', 5, [byHand('pending'), adjust(-2)], 3, 'pending'],
  ['no more units can be taken than there are', 3, [open(2), adjust(-2), adjust(-1)], 0, 'pending'],
  ['an order returns its units to any stock', 3, [open(3), set(10), cancel(0)], 13, 'available'],
  ['a cancelled order is gone', 2, [open(), cancel(0), cancel(0), complete(0)], 2, 'available'],
  ['a complete order stays so', 2, [sale, cancel(0), { do: 'reopen', order: 0 }], 1, 'available'],
  ['a sold pet cannot become pending', 1, [byHand('sold'), byHand('pending')], 1, 'sold'],
  ['a deleted pet is gone', 1, [remove, open(), set(1), adjust(1), byHand('sold')], 1, 'deleted'],
  ['a pet with open orders cannot be deleted', 3, [open(), remove], 2, 'available'],
  ['a pet without open orders can be deleted', 3, [open(), complete(0), remove], 2, 'deleted'],
];

describe('the store', () => {
  const { caller, arrange } = useStore();

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

  it.each(RULES)('%s', async (_rule, stock, steps, left, status) => {
    const model = new StoreModel('available');
    await followed(model, [{ do: 'set', quantity: stock }, ...steps]);
    expect([model.stock, model.deleted ? 'deleted' : model.status]).toEqual([left, status]);
  });

  it('follows its rules for every sequence of operations', async () => {
    const property = fc.asyncProperty(anyStatus, anyHistory, (status, steps) =>
      followed(new StoreModel(status), steps),
    );
    await fc.assert(property, { numRuns: 12 });
  });

  /** Compares the service with the model, after each step. */
  async function followed(model: StoreModel, steps: readonly Step[]): Promise<void> {
    const builders = { available: aPet(), pending: aPet().pending(), sold: aPet().sold() };
    const { id: petId } = await arrange.pet(builders[model.status]);
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
  }
});
