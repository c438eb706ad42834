import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { PetsModule } from '../pets';
import { InventoryController } from './inventory.controller';
import { InventoryService } from './inventory.service';

/** Stock. */
@Module({
  imports: [PetsModule, EventLogModule],
  controllers: [InventoryController],
  providers: [InventoryService],
  exports: [InventoryService],
})
export class InventoryModule {}
