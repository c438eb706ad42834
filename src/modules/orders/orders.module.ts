import { Module } from '@nestjs/common';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ChangeOrder } from './change-order';
import { OpenOrders } from './open-orders';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';
import { PlaceOrder } from './place-order';
import { PlaceTogether } from './place-together';

/** Who buys what. */
@Module({
  imports: [PetsModule, InventoryModule],
  controllers: [OrdersController],
  providers: [OrdersService, OpenOrders, PlaceOrder, PlaceTogether, ChangeOrder],
})
export class OrdersModule {}
