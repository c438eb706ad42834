import {
  Body,
  ConflictException,
  Controller,
  Get,
  HttpCode,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Put,
  UseGuards,
} from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { AdjustStockDto, SetStockDto } from './dto';
import { Pet, Stock } from './entities';
import { IdempotencyService, IdempotencyUse, type Use } from './idempotency';

interface Item extends Stock {
  status: string;
}

@Injectable()
export class InventoryService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly idempotency: IdempotencyService,
  ) {}

  async findOne(petId: number, manager = this.dataSource.manager, lock = false): Promise<Item> {
    const pet = await manager.findOne(Pet, {
      where: { id: petId },
      ...(lock ? { lock: { mode: 'pessimistic_write' } } : {}),
    });
    if (!pet) {
      throw new NotFoundException(`There is no pet ${petId}.`);
    }
    const { quantity } = await manager.findOneByOrFail(Stock, { petId });
    return { petId, quantity, status: pet.status };
  }

  set(petId: number, quantity: number): Promise<Item> {
    return this.dataSource.transaction(async (manager) => {
      const item = await this.findOne(petId, manager, true);
      return this.write(manager, item, quantity, quantity > 0);
    });
  }

  adjust(petId: number, delta: number, use: Use | undefined): Promise<Item> {
    return this.idempotency.run(use, async (manager) => {
      const item = await this.findOne(petId, manager, true);
      if (item.quantity + delta < 0) {
        throw new ConflictException('There is not enough in stock.');
      }
      return this.write(manager, item, item.quantity + delta, delta > 0);
    });
  }

  private async write(
    manager: EntityManager,
    { petId, status: before }: Item,
    quantity: number,
    restocks: boolean,
  ): Promise<Item> {
    const status = restocks ? 'available' : before;
    await manager.save(Stock, { petId, quantity });
    if (status !== before) {
      await manager.update(Pet, { id: petId }, { status });
    }
    return { petId, quantity, status };
  }
}

@Controller('store/inventory')
@UseGuards(ApiKeyGuard)
export class InventoryController {
  constructor(private readonly inventory: InventoryService) {}

  @Get(':petId')
  findOne(@Param('petId', ParseIntPipe) petId: number): Promise<Item> {
    return this.inventory.findOne(petId);
  }

  @Put(':petId')
  set(@Param('petId', ParseIntPipe) petId: number, @Body() { quantity }: SetStockDto): Promise<Item> {
    return this.inventory.set(petId, quantity);
  }

  @Post(':petId/adjustments')
  @HttpCode(200)
  adjust(
    @Param('petId', ParseIntPipe) petId: number,
    @Body() { delta }: AdjustStockDto,
    @IdempotencyUse() use?: Use,
  ): Promise<Item> {
    return this.inventory.adjust(petId, delta, use);
  }
}
