import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

/** Orders. */
@Module({
  imports: [PetsModule, InventoryModule, EventLogModule],
  controllers: [OrdersController],
  providers: [OrdersService],
  exports: [OrdersService],
})
export class OrdersModule {}
