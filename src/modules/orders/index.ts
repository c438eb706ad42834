export { OpenOrders } from './order-commands';
export { OrdersModule } from './orders.module';
export { ORDERS, OrdersService } from './orders.service';
