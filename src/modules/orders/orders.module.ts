import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OpenOrdersKeepPets } from './open-orders';
import { OrderChanges } from './order-changes';
import { OrderEvents } from './order-events';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

/** Orders. */
@Module({
  imports: [PetsModule, InventoryModule, EventLogModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderChanges, OpenOrdersKeepPets, OrderEvents],
  exports: [OrdersService, OrderChanges],
})
export class OrdersModule {}
