export { OrdersModule } from './orders.module';
export { OPERATOR, OrdersService } from './orders.service';
