import { ApiSchema } from '@nestjs/swagger';
import {
  defineError,
  except,
  Field,
  integer,
  oneOf,
  PageQuery,
  RepeatableQueryField,
  resourceId,
  ResponseField,
} from '#libs/http';
import { PET_STATUSES, type PetStatus } from '../pets';
import type { InventoryItem } from './stock.entity';

/** The maximum of an `integer` column. */
export const MAX_QUANTITY = 2_147_483_647;

/** Validation of a stock count, for requests and imports. */
export const stockQuantity = integer({ min: 0, max: MAX_QUANTITY });

const anyDelta = integer({ min: -MAX_QUANTITY, max: MAX_QUANTITY });
const delta = except(anyDelta, 0, `${anyDelta.expected}, but not 0`);

@ApiSchema({ name: 'InventoryItem', description: 'The stock of one animal.' })
export class InventoryItemDto {
  @ResponseField(resourceId, { description: 'Identifier of the animal the entry tracks.', example: 1 })
  petId!: number;

  @ResponseField(stockQuantity, { description: 'Current stock count.', example: 3 })
  quantity!: number;

  @ResponseField(oneOf(PET_STATUSES), {
    description: 'Status of the animal.',
    example: 'available',
    enumName: 'PetStatus',
  })
  status!: PetStatus;
}

@ApiSchema({ name: 'InventoryUpdate', description: 'The body to set a stock count.' })
export class InventoryUpdateDto {
  @Field(stockQuantity, { description: 'The new stock count.', example: 3 })
  quantity!: number;
}

@ApiSchema({ name: 'InventoryAdjustment', description: 'The body to adjust a stock count.' })
export class InventoryAdjustmentDto {
  @Field(delta, {
    description: 'Units to add to the stock, or to remove if negative. Not 0.',
    example: -2,
  })
  delta!: number;
}

export class ListInventoryQuery extends PageQuery {
  @RepeatableQueryField(oneOf(PET_STATUSES), {
    description: 'Only entries of pets with one of these statuses.',
    example: ['available'],
    maxItems: PET_STATUSES.length,
    enumName: 'PetStatus',
  })
  status?: PetStatus[];
}

export function toInventoryItemDto({ petId, quantity, status }: InventoryItem): InventoryItemDto {
  return { petId, quantity, status };
}

export const InsufficientStockError = defineError({
  code: 'insufficient_stock',
  status: 409,
  when: 'There are not enough units in stock.',
  message: (petId: number) =>
    `Pet ${petId} does not have that many units in stock. See GET /store/inventory/${petId}.`,
  example: [7],
});
