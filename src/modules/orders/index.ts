import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { Order } from './order.entity';
import { OrdersController } from './orders.controller';
import { ORDER_SCHEMAS } from './orders.dto';
import { ORDERS_TABLE, OrdersService } from './orders.service';

@Module({
  imports: [TypeOrmModule.forFeature([Order])],
  controllers: [OrdersController],
  providers: [OrdersService],
})
class OrdersModule {}

export const ORDERS: Feature = { module: OrdersModule, tables: [ORDERS_TABLE], schemas: ORDER_SCHEMAS };
