import { integer } from '#libs/validation';
import type { PetStatus } from '../pets';

/** What an `integer` column holds. */
export const MAX_QUANTITY = 2_147_483_647;

/** What a stock may be, wherever it comes from. */
export const stockQuantity = integer({ min: 0, max: MAX_QUANTITY });

/** Units in stock of a new pet of which nobody says more. */
export const FIRST_QUANTITY: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };
