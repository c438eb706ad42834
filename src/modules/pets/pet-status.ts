// The rule of a pet's status: which changes a caller may make by hand. What stock and orders do to it is theirs.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** For each status, those that it can be changed to by hand; to stay what it is, is no change. */
const BY_HAND: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['available', 'pending', 'sold'],
  pending: ['pending', 'available', 'sold'],
  sold: ['sold', 'available'],
};

export function mayChangeByHand(from: PetStatus, to: PetStatus): boolean {
  return BY_HAND[from].includes(to);
}
