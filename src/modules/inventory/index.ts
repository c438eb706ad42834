import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../features';
import { InventoryController } from './inventory.controller';
import { STOCK_TABLE, InventoryService } from './inventory.service';
import { InventoryItem, Stock } from './stock.entity';

export { InsufficientStockError, STOCK_COUNT, StockLimitExceededError } from './inventory.dto';
export { INITIAL_STOCK, InventoryService, StockOperations } from './inventory.service';

/** Stock. */
@Module({
  imports: [TypeOrmModule.forFeature([Stock, InventoryItem])],
  controllers: [InventoryController],
  providers: [InventoryService],
  exports: [InventoryService],
})
export class InventoryModule {}

export const INVENTORY: Feature = { module: InventoryModule, tables: [STOCK_TABLE] };
