import { Module } from '@nestjs/common';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OpenOrdersKeepPets } from './open-orders';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

/** Who buys what. */
@Module({
  imports: [PetsModule, InventoryModule],
  controllers: [OrdersController],
  providers: [OrdersService, OpenOrdersKeepPets],
})
export class OrdersModule {}
