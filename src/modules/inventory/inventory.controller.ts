import { Body, Controller, Get, Post, Put, Query } from '@nestjs/common';
import type { CallerId, CommandSource } from '#libs/database';
import { ChecksConditions, IdParam, Operation, Tag } from '#libs/http';
import { ClientId, ScopeByMethod } from '../auth';
import { PetNotFoundError } from '../pets';
import { Source, SendsCommands } from '../writes';
import {
  InsufficientStockError,
  InventoryAdjustmentDto,
  InventoryItemDto,
  InventoryUpdateDto,
  ListInventoryQuery,
  StockLimitExceededError,
} from './inventory.dto';
import { InventoryService } from './inventory.service';

const PetId = () => IdParam('petId', 'Identifier of the pet (Pet.id).');

const stockOf = (quantity: number) => ({ petId: 1, quantity, status: 'available' });

@Tag({ place: 40, name: 'Inventory', description: 'Stock counts per pet.', parent: 'Store' })
@Controller('store/inventory')
@ScopeByMethod()
@SendsCommands()
export class InventoryController {
  constructor(private readonly inventory: InventoryService) {}

  @Get()
  @Operation({
    id: 'listInventory',
    summary: 'List stock counts',
    description: 'Returns a page of stock counts, sorted by petId. `Link` leads to the next page.',
    response: { description: 'One page of stock counts.', page: InventoryItemDto },
  })
  list(@Query() query: ListInventoryQuery, @ClientId() clientId: CallerId) {
    return this.inventory.list(query, clientId);
  }

  @Get(':petId')
  @Operation({
    id: 'getInventory',
    summary: 'Get the stock count of a pet',
    description: 'Returns the current stock count and status of one pet.',
    response: { description: 'The stock of the pet.', resource: InventoryItemDto },
    errors: [PetNotFoundError],
  })
  get(@PetId() petId: number, @ClientId() clientId: CallerId) {
    return this.inventory.get(petId, clientId);
  }

  @Put(':petId')
  @Operation({
    id: 'setInventory',
    summary: 'Set the stock count of a pet',
    description:
      'Sets the stock count. If the count rises from 0, the pet becomes `available`. At 0, the pet becomes `pending` while an order is open, otherwise `sold`. A pet that a caller has held stays held until its stock is 0. Send `If-Match` to avoid overwriting changes that you have not seen, or adjust the count instead.',
    response: { description: 'The updated stock.', resource: InventoryItemDto, example: stockOf(3) },
    errors: [PetNotFoundError],
  })
  set(@PetId() petId: number, @Body() { quantity }: InventoryUpdateDto, @Source() source: CommandSource) {
    return this.inventory.set(petId, quantity, source);
  }

  @Post(':petId/adjustments')
  @ChecksConditions()
  @Operation({
    id: 'adjustInventory',
    summary: 'Adjust the stock count of a pet',
    description:
      'Adds units to the stock or removes them in one step, without reading the count first. The status follows as if the count were set.',
    response: {
      description: 'The updated stock.',
      resource: InventoryItemDto,
      examples: {
        delivered: { summary: 'Add five units', value: stockOf(8) },
        lost: { summary: 'Remove two units', value: stockOf(6) },
      },
    },
    errors: [PetNotFoundError, InsufficientStockError, StockLimitExceededError],
    stability: 'experimental',
    bodyExamples: {
      delivered: { summary: 'Add five units', value: { delta: 5 } },
      lost: { summary: 'Remove two units', value: { delta: -2 } },
    },
  })
  adjust(@PetId() petId: number, @Body() { delta }: InventoryAdjustmentDto, @Source() source: CommandSource) {
    return this.inventory.adjust(petId, delta, source);
  }
}
