export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export interface Stock {
  stock: number;
  openOrders: number;
}

/**
 * Returns the status of a pet after a change of its stock or open orders. A pet that runs out of stock becomes
 * `pending` while an order is open, otherwise `sold`.
 */
export function statusAfter(before: { stock: number; status: PetStatus }, after: Stock): PetStatus {
  if (after.stock > 0) {
    return before.stock === 0 ? 'available' : before.status;
  }
  return before.status !== 'sold' && after.openOrders > 0 ? 'pending' : 'sold';
}

const BY_HAND: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['available', 'pending', 'sold'],
  pending: ['available', 'pending', 'sold'],
  sold: ['available', 'sold'],
};

/**
 * True if a caller may set this status. Only a pet in stock can become `available`, because a pet with this status can
 * be ordered.
 */
export function mayChangeByHand(from: { stock: number; status: PetStatus }, to: PetStatus): boolean {
  return BY_HAND[from.status].includes(to) && (to !== 'available' || from.stock > 0);
}
