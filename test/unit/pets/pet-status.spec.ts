import {
  mayChangeByHand,
  PET_STATUSES,
  type PetStatus,
  statusAfter,
} from '../../../src/modules/pets/pet-status';

it('the statuses are those that the specification names', () => {
  expect(PET_STATUSES).toEqual(['available', 'pending', 'sold']);
});

/** For each status: what it is after a change from no stock and from some, to no stock and to some. */
const FOLLOWS: Record<PetStatus, [before: number, after: number, open: boolean, status: PetStatus][]> = {
  available: [
    [2, 0, true, 'pending'],
    [2, 0, false, 'sold'],
    [0, 0, true, 'pending'],
    [0, 0, false, 'sold'],
    [0, 2, true, 'available'],
    [0, 2, false, 'available'],
    [2, 3, true, 'available'],
    [2, 1, false, 'available'],
  ],
  pending: [
    [2, 0, true, 'pending'],
    [2, 0, false, 'sold'],
    [0, 0, true, 'pending'],
    [0, 0, false, 'sold'],
    [0, 2, true, 'available'],
    [0, 2, false, 'available'],
    [2, 3, true, 'pending'],
    [2, 1, false, 'pending'],
  ],
  sold: [
    [2, 0, true, 'sold'],
    [2, 0, false, 'sold'],
    [0, 0, true, 'sold'],
    [0, 0, false, 'sold'],
    [0, 2, true, 'available'],
    [0, 2, false, 'available'],
    [2, 3, true, 'sold'],
    [2, 1, false, 'sold'],
  ],
};

describe.each(PET_STATUSES)('a pet that is %s', (status) => {
  it.each(FOLLOWS[status])(
    'with stock %d, then %d, and open orders: %s, is %s',
    (before, after, open, then) => {
      expect(statusAfter(status, { before, after }, () => open)).toBe(then);
    },
  );

  it('does not depend on open orders while stock is left', () => {
    const never = () => {
      throw new Error('asked');
    };
    expect(statusAfter(status, { before: 1, after: 1 }, never)).toBe(status);
  });
});

describe('by hand', () => {
  const refused = (stock: number) =>
    PET_STATUSES.flatMap((from) =>
      PET_STATUSES.filter((to) => !mayChangeByHand(from, to, stock)).map((to) => `${from} to ${to}`),
    );

  it('a pet with stock may be held and offered again, but a sold one does not become pending', () => {
    expect(refused(1)).toEqual(['sold to pending']);
  });

  it('a pet without stock does not become available', () => {
    expect(refused(0)).toEqual([
      'available to available',
      'pending to available',
      'sold to available',
      'sold to pending',
    ]);
  });
});
