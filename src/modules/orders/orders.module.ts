import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OpenOrdersKeepPets } from './open-orders';
import { OrderAdministration } from './order-administration';
import { OrderEvents } from './order-events';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

/** Orders. */
@Module({
  imports: [PetsModule, InventoryModule, EventLogModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderAdministration, OpenOrdersKeepPets, OrderEvents],
  exports: [OrdersService, OrderAdministration],
})
export class OrdersModule {}
