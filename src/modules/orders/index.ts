export { OrderChanges } from './order-changes';
export { OrdersModule } from './orders.module';
export { OrdersService } from './orders.service';
