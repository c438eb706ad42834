// The order lifecycle, and what each transition means for the pet's status.
import type { PetStatus } from '../pets';

export type OrderStatus = 'open' | 'complete' | 'cancelled';

/** Completing and cancelling are final. */
const TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  open: ['open', 'complete', 'cancelled'],
  complete: ['complete'],
  cancelled: [],
};

export function canTransition(from: OrderStatus, to: OrderStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** What the pet has left after a transition. */
export interface Remainder {
  stock: number;
  openOrders: boolean;
}

/** The last unit is taken: the pet is pending. */
export function petStatusAfterPlacing(status: PetStatus, { stock }: Pick<Remainder, 'stock'>): PetStatus {
  return stock === 0 ? 'pending' : status;
}

/** No stock and no open order is left: the pet is sold. */
export function petStatusAfterCompleting(status: PetStatus, { stock, openOrders }: Remainder): PetStatus {
  return stock === 0 && !openOrders ? 'sold' : status;
}

/** A pending pet is available again. */
export function petStatusAfterCancelling(status: PetStatus): PetStatus {
  return status === 'pending' ? 'available' : status;
}
