import { ApiSchema } from '@nestjs/swagger';
import { defineError, Id, Integer, OneOf, PageQuery } from '#libs/http';
import { PET_STATUSES, type PetStatus } from '../pets';

/** Maximum of an `integer` column in PostgreSQL. */
export const MAX_QUANTITY = 2_147_483_647;

export const STOCK_COUNT = { min: 0, max: MAX_QUANTITY };

@ApiSchema({ name: 'InventoryItem', description: 'The stock of one pet.' })
export class InventoryItemDto {
  @Id({ description: 'Identifier of the pet.', example: 1 })
  petId!: number;

  @Integer({ ...STOCK_COUNT, description: 'Current stock count.', example: 1 })
  quantity!: number;

  @OneOf(PET_STATUSES, {
    description: 'Status of the pet.',
    example: 'available',
    enumName: 'PetStatus',
  })
  status!: PetStatus;
}

@ApiSchema({ name: 'InventoryUpdate', description: 'The body to set a stock count.' })
export class InventoryUpdateDto {
  @Integer({ ...STOCK_COUNT, description: 'The new stock count.', example: 3 })
  quantity!: number;
}

@ApiSchema({ name: 'InventoryAdjustment', description: 'The body to adjust a stock count.' })
export class InventoryAdjustmentDto {
  @Integer({
    min: -MAX_QUANTITY,
    max: MAX_QUANTITY,
    except: 0,
    description: 'Units to add to the stock, or to remove if negative. Not 0.',
    example: -2,
  })
  delta!: number;
}

export class ListInventoryQuery extends PageQuery {
  @OneOf(PET_STATUSES, {
    times: PET_STATUSES.length,
    description: 'Only entries of pets with one of these statuses.',
    example: ['available'],
    enumName: 'PetStatus',
  })
  status?: PetStatus[];
}

export const InsufficientStockError = defineError({
  code: 'insufficient_stock',
  status: 409,
  when: 'There are not enough units in stock.',
  message: (petId: number) =>
    `Pet ${petId} does not have that many units in stock. See GET /store/inventory/${petId}.`,
  example: [7],
});

export const StockLimitExceededError = defineError({
  code: 'stock_limit_exceeded',
  status: 409,
  when: `The stock of a pet would exceed its maximum, ${MAX_QUANTITY}.`,
  message: (petId: number) => `Pet ${petId} would have more than ${MAX_QUANTITY} units in stock.`,
  example: [7],
});
