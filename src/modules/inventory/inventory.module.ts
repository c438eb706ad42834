import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { PetsModule } from '../pets';
import { BulkStock } from './bulk-stock';
import { FirstStock } from './first-stock';
import { InventoryController } from './inventory.controller';
import { InventoryService } from './inventory.service';
import { StockEvents } from './stock-events';

/** Stock. */
@Module({
  imports: [PetsModule, EventLogModule],
  controllers: [InventoryController],
  providers: [InventoryService, FirstStock, StockEvents, BulkStock],
  exports: [BulkStock, InventoryService],
})
export class InventoryModule {}
