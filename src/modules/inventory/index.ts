import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { StockOfPets } from '../pets';
import { InventoryController } from './inventory.controller';
import { InventoryItem, StockWithStatus } from './inventory-item.entity';
import { INVENTORY_TABLE, InventoryService, StockRows } from './inventory.service';

export { InsufficientStockError, STOCK_COUNT, StockLimitExceededError } from './inventory.dto';
export { InventoryService, StockRows, stockAfter } from './inventory.service';

/**
 * Global, because the pets module needs `StockOfPets`, which this module provides. The pets module cannot import this
 * module, because this module depends on the pets module.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([InventoryItem, StockWithStatus])],
  controllers: [InventoryController],
  providers: [InventoryService, { provide: StockOfPets, useValue: StockRows satisfies StockOfPets }],
  exports: [InventoryService, StockOfPets],
})
export class InventoryModule {}

export const INVENTORY: Feature = { module: InventoryModule, tables: [INVENTORY_TABLE] };
