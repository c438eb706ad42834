// The status of a pet: how it follows stock and open orders, and what callers may change it to by hand.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** The stock of a new pet. */
export const INITIAL_STOCK: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

/** A pet, as far as its status depends on it. */
export interface Stocked {
  status: PetStatus;
  /** Units in stock. */
  stock: number;
  openOrders: number;
}

/**
 * The status after any change of stock or open orders. Without stock a pet is pending while an order is open, else sold; new
 * stock makes it available. A pet with stock stays as it is, so one that is held by hand stays held.
 */
export function statusAfter(before: Stocked, after: Pick<Stocked, 'stock' | 'openOrders'>): PetStatus {
  if (after.stock > 0) {
    return before.stock === 0 ? 'available' : before.status;
  }
  return before.status !== 'sold' && after.openOrders > 0 ? 'pending' : 'sold';
}

/** What a caller may change a status to. */
const BY_HAND: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['available', 'pending', 'sold'],
  pending: ['available', 'pending', 'sold'],
  sold: ['available', 'sold'],
};

/** Whether a caller may make this change. An available pet can always be ordered, so it needs stock. */
export function mayChangeByHand({ status, stock }: Stocked, to: PetStatus): boolean {
  return BY_HAND[status].includes(to) && (to !== 'available' || stock > 0);
}
