import { integer } from '#libs/validation';
import type { PetStatus } from '../pets';

/** The maximum of an `integer` column. */
export const MAX_QUANTITY = 2_147_483_647;

/** Validation of a stock count, for requests and imports. */
export const stockQuantity = integer({ min: 0, max: MAX_QUANTITY });

/** The stock of a new pet by default. */
export const FIRST_QUANTITY: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };
