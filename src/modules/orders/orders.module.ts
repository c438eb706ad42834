import { Module } from '@nestjs/common';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OpenOrdersKeepPets } from './open-orders';
import { OrderChanges } from './order-changes';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

/** Who buys what. */
@Module({
  imports: [PetsModule, InventoryModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderChanges, OpenOrdersKeepPets],
  exports: [OrdersService, OrderChanges],
})
export class OrdersModule {}
