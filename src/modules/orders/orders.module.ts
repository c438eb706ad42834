import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { RowChange } from '#libs/database';
import { EventLog, EventLogModule, type Occurrence } from '../events';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { OpenOrdersKeepPets } from './open-orders';
import { OrderAdministration } from './order-administration';
import { Order } from './order.entity';
import { OrdersController } from './orders.controller';
import { toOrderDto } from './orders.dto';
import { OrdersService } from './orders.service';

/** The events of orders. */
@Injectable()
export class OrderEvents implements OnModuleInit {
  constructor(private readonly log: EventLog) {}

  onModuleInit(): void {
    this.log.report(Order, eventsOf);
  }
}

/** The row of a cancelled order is kept. An order can be completed in the same step in which it is placed or rescheduled. */
function eventsOf({ before, after }: RowChange<Order>): Occurrence[] {
  const { petId, shipDate, complete, cancelledAt } = after!;
  if (cancelledAt !== null) {
    return [{ type: 'order.cancelled', petId, data: toOrderDto(before!) }];
  }
  const data = toOrderDto(after!);
  const isRescheduled = before !== null && shipDate?.getTime() !== before.shipDate?.getTime();
  return [
    ...(before === null ? [{ type: 'order.placed', petId, data } as const] : []),
    ...(isRescheduled ? [{ type: 'order.updated', petId, data } as const] : []),
    ...(complete && before?.complete !== true ? [{ type: 'order.completed', petId, data } as const] : []),
  ];
}

/** Orders. */
@Module({
  imports: [PetsModule, InventoryModule, EventLogModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderAdministration, OpenOrdersKeepPets, OrderEvents],
  exports: [OrdersService, OrderAdministration],
})
export class OrdersModule {}
