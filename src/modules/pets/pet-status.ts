// Rules for the status of a pet: how the status follows stock and open orders, and which changes callers may make.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** Units in stock and the number of open orders. */
export interface Stock {
  stock: number;
  openOrders: number;
}

/** A status and the values that determine the next status. */
interface Stocked extends Stock {
  status: PetStatus;
}

/**
 * Returns the status of a pet after a change of its stock or open orders. A pet that runs out of stock becomes `pending` while an
 * order is open, otherwise `sold`. A pet without stock that gets stock becomes `available`. A pet that had stock and still has
 * stock keeps its status, so a pet that a caller has set to `pending` by hand stays `pending`.
 */
export function statusAfter(before: Stocked, after: Stock): PetStatus {
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

/** True if a caller may change the status. A pet without stock cannot become `available`, because an available pet can be ordered. */
export function mayChangeByHand({ status, stock }: Stocked, to: PetStatus): boolean {
  return BY_HAND[status].includes(to) && (to !== 'available' || stock > 0);
}
