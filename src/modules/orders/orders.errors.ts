import { defineError } from '#libs/http';

export const OrderNotFoundError = defineError({
  code: 'order_not_found',
  status: 404,
  when: 'No order has this id, or it was cancelled.',
  message: (orderId: number) => `There is no order ${orderId}.`,
  example: [7],
});

export const UnknownPetError = defineError({
  code: 'unknown_pet',
  status: 422,
  when: 'No pet has the `petId` in the body.',
  message: (petId: number) => `There is no pet ${petId}: petId must be the id of a pet.`,
  example: [7],
});

export const PetNotAvailableError = defineError({
  code: 'pet_not_available',
  status: 409,
  when: "The pet's status is not `available`.",
  message: (petId: number, status: string) =>
    `Pet ${petId} is ${status}; only an available pet can be ordered.`,
  example: [7, 'pending'],
});

export const OrderAlreadyCompleteError = defineError({
  code: 'order_already_complete',
  status: 409,
  when: 'The order is complete. It cannot be reopened or cancelled.',
  message: (orderId: number) => `Order ${orderId} is complete. It cannot be reopened or cancelled.`,
  example: [7],
});
