import { defineError } from '#libs/errors';

export const InsufficientStockError = defineError({
  code: 'insufficient_stock',
  status: 409,
  when: 'There are fewer units in stock than the request takes.',
  message: (petId: number) =>
    `Pet ${petId} has fewer units in stock than that: see GET /store/inventory/${petId}.`,
  example: [7],
});
