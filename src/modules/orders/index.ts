export { OrdersModule } from './orders.module';
export { OpenOrders, ORDERS, OrdersService } from './orders.service';
