import { Injectable } from '@nestjs/common';
import {
  CommandExecutor,
  Database,
  type Origin,
  PageReader,
  type Parameter,
  type Selection,
} from '#libs/database';
import { type Page, type Precondition, rangeOf } from '#libs/http';
import type { Occurrence, Participant } from '../events';
import { cancelOrder, completeOrder, placeOrder, rescheduleOrder } from './order-commands';
import { Order } from './order.entity';
import {
  type ListOrdersQuery,
  type NewOrderDto,
  type OrderDto,
  OrderNotFoundError,
  type OrderPatchDto,
  toOrderDto,
} from './orders.dto';

/** The use cases of orders. */
@Injectable()
export class OrdersService {
  private readonly pages: PageReader<Order, ListOrdersQuery>;

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {
    this.pages = new PageReader(database, Order, selectOrders);
  }

  async list(query: ListOrdersQuery, caller?: number): Promise<Page<OrderDto>> {
    const { entries, lastId } = await this.pages.read(rangeOf(query), query, caller);
    return { entries: entries.map(toOrderDto), lastId };
  }

  async get(id: number, caller?: number): Promise<OrderDto> {
    const order = await this.database.find(Order, id, caller);
    if (order?.cancelledAt !== null) {
      throw new OrderNotFoundError(id);
    }
    return toOrderDto(order);
  }

  place(body: NewOrderDto, origin: Origin): Promise<OrderDto> {
    return this.commands.run(placeOrder(body), origin);
  }

  async update(
    id: number,
    patch: OrderPatchDto,
    precondition: Precondition,
    origin: Origin,
  ): Promise<OrderDto> {
    if (patch.complete !== true) {
      return this.commands.run(rescheduleOrder(id, patch, precondition), origin);
    }
    const order = await this.get(id, origin.owner);
    return this.commands.run(completeOrder(order, patch, precondition), origin);
  }

  async cancel(id: number, precondition: Precondition, origin: Origin): Promise<void> {
    const order = await this.get(id, origin.owner);
    return this.commands.run(cancelOrder(order, precondition), origin);
  }
}

function selectOrders({ petId, complete }: ListOrdersQuery, parameter: Parameter): Selection {
  const ofPet = petId === undefined ? [] : [`pet_id = ${parameter(petId, 'bigint')}`];
  const wanted = complete === undefined ? [false, true] : [complete];
  return {
    conditions: ['cancelled_at IS NULL', ...ofPet],
    within: {
      column: 'complete',
      sorted: petId === undefined ? 'ASC' : 'DESC',
      parameters: wanted.map((value) => parameter(value, 'boolean')),
    },
  };
}

/** The part of orders in writes. The row of a cancelled order is kept. */
export const ORDERS: Participant = {
  entity: Order,
  eventsOf: (state) => state.changesOf(Order).flatMap(({ before, after }) => eventsOf(before, after!)),
};

/** An order can be completed in the same step in which it is placed or rescheduled. */
function eventsOf(before: Order | null, after: Order): Occurrence[] {
  const { petId, shipDate, complete, cancelledAt } = after;
  if (cancelledAt !== null) {
    return [{ type: 'order.cancelled', petId, data: toOrderDto(before!) }];
  }
  const data = toOrderDto(after);
  const isRescheduled = before !== null && shipDate?.getTime() !== before.shipDate?.getTime();
  return [
    ...(before === null ? [{ type: 'order.placed', petId, data } as const] : []),
    ...(isRescheduled ? [{ type: 'order.updated', petId, data } as const] : []),
    ...(complete && before?.complete !== true ? [{ type: 'order.completed', petId, data } as const] : []),
  ];
}
