export { OpenOrders } from './order-commands';
export { OrdersModule } from './orders.module';
export { OPERATOR, ORDERS, OrdersService } from './orders.service';
