export { OrderAdministration } from './order-administration';
export { OrdersModule } from './orders.module';
export { OrdersService } from './orders.service';
