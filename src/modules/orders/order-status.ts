// The rules of an order's life, and what each step of it means for the pet.
import type { PetStatus } from '../pets';

export type OrderStatus = 'open' | 'complete' | 'cancelled';

/** Completing and cancelling are final. */
const TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  open: ['open', 'complete', 'cancelled'],
  complete: ['complete'],
  cancelled: [],
};

export function mayBecome(from: OrderStatus, to: OrderStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** What is left for the pet after a step: units in stock, and whether orders are still open. */
export interface Remainder {
  stock: number;
  openOrders: boolean;
}

/** When the last unit is taken, the pet waits for its buyer. */
export function petStatusAfterPlacing(status: PetStatus, { stock }: Pick<Remainder, 'stock'>): PetStatus {
  return stock === 0 ? 'pending' : status;
}

/** When nothing is left and nobody waits, the pet is sold. */
export function petStatusAfterCompleting(status: PetStatus, { stock, openOrders }: Remainder): PetStatus {
  return stock === 0 && !openOrders ? 'sold' : status;
}

/** A pet that waited for its buyer can be bought again. */
export function petStatusAfterCancelling(status: PetStatus): PetStatus {
  return status === 'pending' ? 'available' : status;
}
