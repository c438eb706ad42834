import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { PetsModule } from '../pets';
import { BulkStock } from './bulk-stock';
import { InventoryController } from './inventory.controller';
import { InventoryService } from './inventory.service';
import { StockLifecycle } from './stock-lifecycle';

/** Stock. */
@Module({
  imports: [PetsModule, EventLogModule],
  controllers: [InventoryController],
  providers: [InventoryService, StockLifecycle, BulkStock],
  exports: [BulkStock, InventoryService],
})
export class InventoryModule {}
