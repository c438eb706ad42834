import { PET_STATUSES, type PetStatus, mayChangeByHand } from '../../../src/modules/pets/pet-status';

const FORBIDDEN: [PetStatus, PetStatus][] = [['sold', 'pending']];

const PAIRS = PET_STATUSES.flatMap((from) => PET_STATUSES.map((to) => [from, to] as const));
const isForbidden = (from: PetStatus, to: PetStatus) =>
  FORBIDDEN.some(([source, target]) => source === from && target === to);

describe('the status of a pet', () => {
  it('is one of those in the specification, in its order', () => {
    expect(PET_STATUSES).toEqual(['available', 'pending', 'sold']);
  });

  it.each(PAIRS.filter(([from, to]) => !isForbidden(from, to)))(
    'can be changed manually from %s to %s',
    (from, to) => {
      expect(mayChangeByHand(from, to)).toBe(true);
    },
  );

  it.each(FORBIDDEN)('cannot be changed manually from %s to %s', (from, to) => {
    expect(mayChangeByHand(from, to)).toBe(false);
  });
});
