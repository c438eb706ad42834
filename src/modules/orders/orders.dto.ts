import { ApiSchema } from '@nestjs/swagger';
import { PageQuery } from '#libs/paging';
import { AnswerField, Field, QueryField, boolean, identifier, integer, timestamp } from '#libs/validation';
import type { Order } from './order.entity';

const quantity = integer({ min: 1, max: 2_147_483_647 });

const ID = { description: 'Unique order identifier.', example: 1 };
const PET_ID = { description: 'Identifier of the animal in the order.', example: 1 };
const QUANTITY = { description: 'Number of units ordered.', example: 1 };
const SHIP_DATE = { description: 'Expected or actual ship date.', example: '2026-11-24T09:30:00.000Z' };
const COMPLETE = { description: 'Whether the order has been fulfilled.', example: false };

@ApiSchema({ name: 'NewOrder', description: 'What an order is placed with.' })
export class NewOrderDto {
  @Field(identifier, PET_ID)
  petId!: number;

  @Field(quantity, { ...QUANTITY, description: 'Number of units ordered; 1 when left out.', optional: true })
  quantity?: number;

  @Field(timestamp, { ...SHIP_DATE, optional: true })
  shipDate?: string;

  @Field(boolean, {
    ...COMPLETE,
    description: 'Whether the order has been fulfilled; false when left out.',
    optional: true,
  })
  complete?: boolean;
}

@ApiSchema({
  name: 'OrderPatch',
  description: 'A JSON Merge Patch (RFC 7396): fields that are left out stay as they are.',
})
export class OrderPatchDto {
  @Field(timestamp, {
    ...SHIP_DATE,
    description: 'Expected or actual ship date; null removes it.',
    optional: true,
    nullable: true,
  })
  shipDate?: string | null;

  @Field(boolean, {
    ...COMPLETE,
    description: 'Whether the order has been fulfilled. Final once it is true.',
    example: true,
    optional: true,
  })
  complete?: boolean;
}

@ApiSchema({
  name: 'Order',
  description: 'An order for an animal. A `shipDate` that is not set is left out.',
})
export class OrderDto {
  @AnswerField(identifier, { ...ID, optional: true })
  id!: number;

  @AnswerField(identifier, { ...PET_ID, optional: true })
  petId!: number;

  @AnswerField(quantity, { ...QUANTITY, optional: true })
  quantity!: number;

  @AnswerField(timestamp, { ...SHIP_DATE, optional: true })
  shipDate?: string;

  @AnswerField(boolean, { ...COMPLETE, optional: true })
  complete!: boolean;
}

export class ListOrdersQuery extends PageQuery {
  @QueryField(identifier, { description: 'Only orders for this pet.', example: 1 })
  petId?: number;

  @QueryField(boolean, {
    description: 'Only orders that have been fulfilled, or only those that have not.',
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

/** RFC 3339 allows small letters, which Date does not read. */
export function dateOf(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : new Date(text.toUpperCase());
}
