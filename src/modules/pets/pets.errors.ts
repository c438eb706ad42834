import { defineError } from '#libs/http';

export const PetNotFoundError = defineError({
  code: 'pet_not_found',
  status: 404,
  when: 'No pet has this id, or it was deleted.',
  message: (petId: number) => `There is no pet ${petId}.`,
  example: [7],
});

export const UnknownCategoryError = defineError({
  code: 'unknown_category',
  status: 422,
  when: 'No category has the `categoryId` in the body.',
  message: (categoryId: number) =>
    `There is no category ${categoryId}: categoryId must be the id of a category.`,
  example: [7],
});

export const InvalidStatusTransitionError = defineError({
  code: 'invalid_status_transition',
  status: 409,
  when: 'This change of status is not allowed: a sold pet cannot become pending.',
  message: (from: string, to: string) => `A ${from} pet cannot become ${to}.`,
  example: ['sold', 'pending'],
});

export const PetHasOpenOrdersError = defineError({
  code: 'pet_has_open_orders',
  status: 409,
  when: 'The pet still has open orders.',
  message: (petId: number) =>
    `Pet ${petId} still has open orders. Complete or cancel them first: GET /store/orders?petId=${petId}&complete=false.`,
  example: [7],
});
