import { defineError } from '#libs/errors';

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
  when: 'No category has the `categoryId` of the body.',
  message: (categoryId: number) =>
    `There is no category ${categoryId}: categoryId must be the id of a category.`,
  example: [7],
});

export const InvalidStatusTransitionError = defineError({
  code: 'invalid_status_transition',
  status: 409,
  when: 'A status cannot be changed like this by hand: a sold pet cannot become pending.',
  message: (from: string, to: string) => `A ${from} pet cannot become ${to}.`,
  example: ['sold', 'pending'],
});

export const PetHasOpenOrdersError = defineError({
  code: 'pet_has_open_orders',
  status: 409,
  when: 'Orders for the pet are still open.',
  message: (petId: number) =>
    `Orders for pet ${petId} are still open. Complete or cancel them first: GET /store/orders?petId=${petId}&complete=false.`,
  example: [7],
});
