import { Injectable } from '@nestjs/common';
import { Database, PageReader, type Parameter, type Selection } from '#libs/database';
import type { Page } from '#libs/http';
import { Order } from './order.entity';
import { type ListOrdersQuery, type OrderDto, OrderNotFoundError, toOrderDto } from './orders.dto';

/** Reads of orders; the commands that change them have their own files. */
@Injectable()
export class OrdersService {
  private readonly pages: PageReader<Order, ListOrdersQuery>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, Order, selectOrders);
  }

  async list(query: ListOrdersQuery, caller?: number): Promise<Page<OrderDto>> {
    const { entries, lastId } = await this.pages.read(query, caller);
    return { entries: entries.map(toOrderDto), lastId };
  }

  async get(id: number, caller?: number): Promise<OrderDto> {
    const order = await this.database.find(Order, id, caller);
    if (order?.cancelledAt !== null) {
      throw new OrderNotFoundError(id);
    }
    return toOrderDto(order);
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
