import {
  type OrderStatus,
  canTransition,
  petStatusAfterCancelling,
  petStatusAfterCompleting,
  petStatusAfterPlacing,
} from '../../../src/modules/orders/order-status';
import { PET_STATUSES, type PetStatus } from '../../../src/modules/pets/pet-status';

describe('the status of an order', () => {
  it.each<[OrderStatus, OrderStatus, boolean]>([
    ['open', 'open', true],
    ['open', 'complete', true],
    ['open', 'cancelled', true],
    ['complete', 'complete', true],
    ['complete', 'open', false],
    ['complete', 'cancelled', false],
    ['cancelled', 'open', false],
    ['cancelled', 'complete', false],
    ['cancelled', 'cancelled', false],
  ])('may go from %s to %s: %s', (from, to, allowed) => {
    expect(canTransition(from, to)).toBe(allowed);
  });
});

describe('the status of a pet', () => {
  it.each<[PetStatus, number, PetStatus]>([
    ['available', 0, 'pending'],
    ['available', 1, 'available'],
    ['available', 2_147_483_647, 'available'],
  ])('%s with %i units left after an order was placed is %s', (before, stock, after) => {
    expect(petStatusAfterPlacing(before, { stock })).toBe(after);
  });

  it.each(PET_STATUSES)('%s becomes sold when the last order is completed and nothing is left', (before) => {
    expect(petStatusAfterCompleting(before, { stock: 0, openOrders: false })).toBe('sold');
  });

  it.each(
    PET_STATUSES.flatMap((before) => [
      { before, stock: 1, openOrders: false },
      { before, stock: 0, openOrders: true },
      { before, stock: 3, openOrders: true },
    ]),
  )(
    'stays $before when an order is completed while $stock are left and openOrders is $openOrders',
    ({ before, stock, openOrders }) => {
      expect(petStatusAfterCompleting(before, { stock, openOrders })).toBe(before);
    },
  );

  it.each<[PetStatus, PetStatus]>([
    ['pending', 'available'],
    ['available', 'available'],
    ['sold', 'sold'],
  ])('%s is %s after an order was cancelled', (before, after) => {
    expect(petStatusAfterCancelling(before)).toBe(after);
  });
});
