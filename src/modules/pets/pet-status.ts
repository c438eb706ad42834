// The status changes that callers may make manually. Stock and orders have their own rules.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** Defaults of a new or replaced pet. */
export const PET_DEFAULTS: { status: PetStatus } = { status: 'available' };

/** For each status, the allowed next ones; keeping the status is always allowed. */
const BY_HAND: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['available', 'pending', 'sold'],
  pending: ['pending', 'available', 'sold'],
  sold: ['sold', 'available'],
};

export function mayChangeByHand(from: PetStatus, to: PetStatus): boolean {
  return BY_HAND[from].includes(to);
}
