import { ApiSchema, type SchemaObject } from '@nestjs/swagger';
import {
  defineError,
  Id,
  ID_SCHEMA,
  Integer,
  PageQuery,
  parseTimestamp,
  responseSchema,
  Timestamp,
  TrueOrFalse,
} from '#libs/http';
import type { Order } from './order.entity';

const PET_ID = { description: 'Identifier of the pet in the order.', example: 1 };
const QUANTITY = {
  min: 1,
  max: 2_147_483_647,
  description: 'Number of units ordered.',
  example: 1,
  optional: true,
};
const SHIP_DATE = {
  description: 'Expected or actual ship date, in the years 0001 to 9999.',
  example: '2026-11-24T09:30:00.000Z',
  optional: true,
};
const COMPLETE = {
  description: 'Whether the order has been fulfilled.',
  example: false,
  optional: true,
};

@ApiSchema({ name: 'NewOrder', description: 'The body to place an order.' })
export class NewOrderDto {
  @Id(PET_ID)
  petId!: number;

  @Integer({ ...QUANTITY, description: 'Number of units ordered; 1 if it is left out.' })
  quantity?: number;

  @Timestamp(SHIP_DATE)
  shipDate?: string;

  @TrueOrFalse({ ...COMPLETE, description: 'Whether the order has been fulfilled; false if it is left out.' })
  complete?: boolean;
}

@ApiSchema({
  name: 'OrderPatch',
  description: 'A JSON Merge Patch (RFC 7396). Fields that are left out do not change.',
})
export class OrderPatchDto {
  @Timestamp({
    ...SHIP_DATE,
    description: 'Expected or actual ship date, in the years 0001 to 9999. Null removes it.',
    nullable: true,
  })
  shipDate?: string | null;

  @TrueOrFalse({
    ...COMPLETE,
    description: 'Whether the order has been fulfilled. True is final.',
    example: true,
  })
  complete?: boolean;
}

@ApiSchema({
  name: 'Order',
  description: 'An order for a pet. `shipDate` is left out if it is not set.',
})
export class OrderDto {
  @Id({ description: 'Unique order identifier.', example: 1, optional: true })
  id!: number;

  @Id({ ...PET_ID, optional: true })
  petId!: number;

  @Integer(QUANTITY)
  quantity!: number;

  @Timestamp(SHIP_DATE)
  shipDate?: string;

  @TrueOrFalse(COMPLETE)
  complete!: boolean;
}

export const ORDER_SCHEMAS: Record<string, SchemaObject> = {
  StoredOrder: responseSchema('Order', {
    id: ID_SCHEMA,
    petId: ID_SCHEMA,
    quantity: { type: 'integer', format: 'int32', minimum: QUANTITY.min, maximum: QUANTITY.max },
    complete: { type: 'boolean' },
  }),
};

export class ListOrdersQuery extends PageQuery {
  @Id({ times: 1, description: 'Only orders for this pet.', example: 1 })
  petId?: number;

  @TrueOrFalse({
    times: 1,
    description: 'Only fulfilled orders (true) or only open ones (false).',
    example: false,
  })
  complete?: boolean;
}

export function toOrderDto({ id, petId, quantity: units, shipDate, complete }: Order): OrderDto {
  return {
    id,
    petId,
    quantity: units,
    ...(shipDate === null ? {} : { shipDate: shipDate.toISOString() }),
    complete,
  };
}

export function parseDate(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : parseTimestamp(text);
}

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
