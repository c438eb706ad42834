import { Module } from '@nestjs/common';
import { PetsModule } from '../pets';
import { BulkStock } from './bulk-stock';
import { InventoryController } from './inventory.controller';
import { InventoryService } from './inventory.service';

/** How many of each animal there are. */
@Module({
  imports: [PetsModule],
  controllers: [InventoryController],
  providers: [InventoryService, BulkStock],
  exports: [BulkStock, InventoryService],
})
export class InventoryModule {}
