import { Body, Controller, Get, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CommandExecutor, Idempotent, type Origin, SentBy } from '#libs/commands';
import { IfMatch, Precondition, SingleResource } from '#libs/http';
import { Operation } from '#libs/openapi';
import { MAX_PAGE_SIZE, Paged, type Page } from '#libs/paging';
import { BodyExamples, IdParam } from '#libs/validation';
import { RequiresScope } from '../auth';
import { PetNotFoundError } from '../pets';
import { adjustStock, setStock } from './change-stock';
import {
  InventoryAdjustmentDto,
  InventoryItemDto,
  InventoryUpdateDto,
  ListInventoryQuery,
  toInventoryItemDto,
} from './inventory.dto';
import { InsufficientStockError } from './inventory.errors';
import { InventoryService } from './inventory.service';

const EXAMPLE: InventoryItemDto = { petId: 1, quantity: 3, status: 'available' };
const PET_ID = 'Identifier of the pet (Pet.id).';

@ApiTags('Inventory')
@Controller('store/inventory')
export class InventoryController {
  constructor(
    private readonly inventory: InventoryService,
    private readonly commands: CommandExecutor,
  ) {}

  @Get()
  @RequiresScope('read')
  @Paged()
  @Operation({
    id: 'listInventory',
    summary: 'List stock counts',
    description:
      'Stock counts per animal in ascending petId, a page at a time: the next one is where `Link` with `rel="next"` says.',
    answer: {
      description: 'One page of the inventory.',
      type: InventoryItemDto,
      maxItems: MAX_PAGE_SIZE,
      example: [EXAMPLE],
    },
  })
  async list(@Query() query: ListInventoryQuery): Promise<Page<InventoryItemDto>> {
    const page = await this.inventory.list(query);
    return { ...page, entries: page.entries.map(toInventoryItemDto) };
  }

  @Get(':petId')
  @RequiresScope('read')
  @SingleResource()
  @Operation({
    id: 'getInventory',
    summary: 'Get the stock count of a pet',
    description: 'The current stock count and the status of one pet.',
    answer: { description: 'The inventory entry.', type: InventoryItemDto, example: EXAMPLE },
    errors: [PetNotFoundError],
  })
  async get(@IdParam('petId', PET_ID) petId: number): Promise<InventoryItemDto> {
    return toInventoryItemDto(await this.inventory.get(petId));
  }

  @Put(':petId')
  @RequiresScope('write')
  @SingleResource()
  @Operation({
    id: 'setInventory',
    summary: 'Set the stock count of a pet',
    description:
      'Sets the new stock count. A count above 0 makes a `pending` or `sold` pet `available`; 0 changes no status. Send `If-Match` to overwrite nothing that you have not seen, or adjust the count instead.',
    answer: { description: 'The inventory entry as it is now.', type: InventoryItemDto, example: EXAMPLE },
    errors: [PetNotFoundError],
  })
  @BodyExamples(InventoryUpdateDto, {
    restocked: { summary: 'Three units', value: { quantity: 3 } },
    empty: { summary: 'Out of stock', value: { quantity: 0 } },
  })
  set(
    @IdParam('petId', PET_ID) petId: number,
    @Body() { quantity }: InventoryUpdateDto,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<InventoryItemDto> {
    return this.commands.run(setStock(petId, quantity, precondition), origin);
  }

  @Post(':petId/adjustments')
  @RequiresScope('write')
  @Idempotent()
  @SingleResource()
  @Operation({
    id: 'adjustInventory',
    summary: 'Adjust the stock count of a pet',
    description:
      'Adds to the stock or takes from it in one step, without a need to know the count. Units that are added make a `pending` or `sold` pet `available`.',
    answer: { description: 'The inventory entry as it is now.', type: InventoryItemDto, example: EXAMPLE },
    errors: [PetNotFoundError, InsufficientStockError],
    stability: 'experimental',
  })
  @BodyExamples(InventoryAdjustmentDto, {
    delivered: { summary: 'Five units came in', value: { delta: 5 } },
    lost: { summary: 'Two units are gone', value: { delta: -2 } },
  })
  adjust(
    @IdParam('petId', PET_ID) petId: number,
    @Body() { delta }: InventoryAdjustmentDto,
    @SentBy() origin: Origin,
  ): Promise<InventoryItemDto> {
    return this.commands.run(adjustStock(petId, delta), origin);
  }
}
