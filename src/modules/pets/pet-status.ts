// The status of a pet: how it follows stock and open orders, and what callers may change it to by hand.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** Units in stock before and after a change of the stock or of an order. */
export interface StockChange {
  before: number;
  after: number;
}

/**
 * The status after any change of stock or open orders. Without stock a pet is pending while an order is open, else sold; new
 * stock makes it available. A pet with stock stays as it is, so one that is held by hand stays held.
 * @param hasOpenOrders after the change; asked only if nothing is left in stock
 */
export function statusAfter(
  status: PetStatus,
  { before, after }: StockChange,
  hasOpenOrders: () => boolean,
): PetStatus {
  if (after > 0) {
    return before === 0 ? 'available' : status;
  }
  return status !== 'sold' && hasOpenOrders() ? 'pending' : 'sold';
}

/** What a caller may change a status to. */
const BY_HAND: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['available', 'pending', 'sold'],
  pending: ['available', 'pending', 'sold'],
  sold: ['available', 'sold'],
};

/** Whether a caller may make this change. An available pet can always be ordered, so it needs stock. */
export function mayChangeByHand(from: PetStatus, to: PetStatus, stock: number): boolean {
  return BY_HAND[from].includes(to) && (to !== 'available' || stock > 0);
}
