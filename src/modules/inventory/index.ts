import { Module } from '@nestjs/common';
import type { Feature } from '../../feature';
import { PetsModule } from '../pets';
import { InventoryController } from './inventory.controller';
import { InventoryService, STOCK_REPORT } from './inventory.service';

export { InsufficientStockError, STOCK_COUNT, StockLimitExceededError } from './inventory.dto';
export { InventoryService, stockAfter } from './inventory.service';

@Module({
  imports: [PetsModule],
  controllers: [InventoryController],
  providers: [InventoryService],
  exports: [InventoryService],
})
export class InventoryModule {}

export const INVENTORY: Feature = { module: InventoryModule, tables: [STOCK_REPORT] };
