import {
  type OrderStatus,
  canTransition,
  petStatusAfterCancelling,
  petStatusAfterCompleting,
  petStatusAfterPlacing,
} from '../../../src/modules/orders/order-status';
import { PET_STATUSES, mayChangeByHand } from '../../../src/modules/pets/pet-status';

it('An open order may stay so, be completed or be cancelled; a complete one stays so; a cancelled one is gone', () => {
  const all: OrderStatus[] = ['open', 'complete', 'cancelled'];
  const allowed = all.flatMap((from) => all.filter((to) => canTransition(from, to)).map((to) => [from, to]));
  expect(allowed).toEqual([
    ['open', 'open'],
    ['open', 'complete'],
    ['open', 'cancelled'],
    ['complete', 'complete'],
  ]);
});

describe('the status of a pet', () => {
  it('is one of those that the specification names, and every change by hand is allowed except sold to pending', () => {
    expect(PET_STATUSES).toEqual(['available', 'pending', 'sold']);
    const refused = PET_STATUSES.flatMap((from) =>
      PET_STATUSES.filter((to) => !mayChangeByHand(from, to)).map((to) => [from, to]),
    );
    expect(refused).toEqual([['sold', 'pending']]);
  });

  it('is pending once an order has taken the last unit, and not before', () => {
    const after = [0, 1, 2_147_483_647].map((stock) => petStatusAfterPlacing('available', { stock }));
    expect(after).toEqual(['pending', 'available', 'available']);
  });

  it.each(PET_STATUSES)('%s becomes sold when the last order is completed and nothing is left', (before) => {
    expect(petStatusAfterCompleting(before, { stock: 0, openOrders: false })).toBe('sold');
    for (const [stock, openOrders] of [
      [1, false],
      [0, true],
      [3, true],
    ] as const) {
      expect(petStatusAfterCompleting(before, { stock, openOrders })).toBe(before);
    }
  });

  it('is available again after an order was cancelled, if it was pending', () => {
    const after = PET_STATUSES.map((before) => petStatusAfterCancelling(before));
    expect(after).toEqual(['available', 'available', 'sold']);
  });
});
