import { integer } from '#libs/http';

/** The maximum of an `integer` column. */
export const MAX_QUANTITY = 2_147_483_647;

/** Validation of a stock count, for requests and imports. */
export const stockQuantity = integer({ min: 0, max: MAX_QUANTITY });
