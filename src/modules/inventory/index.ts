import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../features';
import { InventoryController } from './inventory.controller';
import { InventoryItemDto } from './inventory.dto';
import { InventoryService, STOCK_REPORT } from './inventory.service';

export { InsufficientStockError, STOCK_COUNT, StockLimitExceededError } from './inventory.dto';
export { InventoryService, stockAfter } from './inventory.service';

@Module({
  imports: [TypeOrmModule.forFeature([InventoryItemDto])],
  controllers: [InventoryController],
  providers: [InventoryService],
  exports: [InventoryService],
})
export class InventoryModule {}

export const INVENTORY: Feature = { module: InventoryModule, tables: [STOCK_REPORT] };
