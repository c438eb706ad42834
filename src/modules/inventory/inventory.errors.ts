import { defineError } from '#libs/http';

export const InsufficientStockError = defineError({
  code: 'insufficient_stock',
  status: 409,
  when: 'There are not enough units in stock.',
  message: (petId: number) =>
    `Pet ${petId} does not have that many units in stock. See GET /store/inventory/${petId}.`,
  example: [7],
});
