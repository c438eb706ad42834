import { type PetStatus, mayChangeByHand, statusAfter } from '../../../../src/modules/pets/pet-status';

type Rule = [
  rule: string,
  status: PetStatus,
  stock: number,
  after: { stock: number; openOrders: number },
  expected: PetStatus,
];

/** The status that a pet gets when its stock or its open orders change. */
const RULES: Rule[] = [
  ['stays available while units are left', 'available', 3, { stock: 1, openOrders: 1 }, 'available'],
  ['is pending when an order takes its last unit', 'available', 1, { stock: 0, openOrders: 1 }, 'pending'],
  ['is sold with its last unit', 'available', 1, { stock: 0, openOrders: 0 }, 'sold'],
  ['is not sold while an order is open', 'pending', 0, { stock: 0, openOrders: 1 }, 'pending'],
  ['is sold when no order is open any more', 'pending', 0, { stock: 0, openOrders: 0 }, 'sold'],
  ['is available with new stock', 'pending', 0, { stock: 2, openOrders: 1 }, 'available'],
  ['is available again with new stock', 'sold', 0, { stock: 5, openOrders: 0 }, 'available'],
  ['stays held when it gets units', 'pending', 1, { stock: 3, openOrders: 0 }, 'pending'],
  ['stays held when it loses some', 'sold', 5, { stock: 3, openOrders: 1 }, 'sold'],
  ['is sold when it was held and loses all', 'pending', 1, { stock: 0, openOrders: 0 }, 'sold'],
  ['is pending when it was held and all is ordered', 'pending', 1, { stock: 0, openOrders: 1 }, 'pending'],
  ['stays sold when it loses all, whatever is open', 'sold', 1, { stock: 0, openOrders: 1 }, 'sold'],
];

it.each(RULES)('A pet %s', (_rule, status, stock, after, expected) => {
  expect(statusAfter({ status, stock }, after)).toBe(expected);
});

it.each<[PetStatus, number, PetStatus[]]>([
  ['available', 1, ['available', 'pending', 'sold']],
  ['pending', 1, ['available', 'pending', 'sold']],
  ['sold', 1, ['available', 'sold']],
  ['pending', 0, ['pending', 'sold']],
  ['sold', 0, ['sold']],
])('By hand, a pet that is %s with %i in stock may become %j', (status, stock, expected) => {
  const wanted = (['available', 'pending', 'sold'] as const).filter((to) =>
    mayChangeByHand({ status, stock }, to),
  );
  expect(wanted).toEqual(expected);
});
