import { Injectable } from '@nestjs/common';
import { Database, RowReader, prepared } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { type OrderRow, orderListStatement, orderOf } from './order-list-statement';
import { Order } from './order.entity';
import type { ListOrdersQuery } from './orders.dto';
import { OrderNotFoundError } from './orders.errors';

/** Reads of orders; what changes them has files of its own. */
@Injectable()
export class OrdersService {
  private readonly orders: RowReader<Order>;

  constructor(private readonly database: Database) {
    this.orders = new RowReader(database, Order);
  }

  async list({ limit, cursor, ...filters }: ListOrdersQuery): Promise<Page<Order>> {
    const { values, ...statement } = orderListStatement(filters, idBefore(cursor), limit + 1);
    const rows = await prepared<OrderRow>(this.database.reader, statement, values);
    return pageOf(rows.map(orderOf), limit, ({ id }) => id);
  }

  async get(id: number): Promise<Order> {
    const order = await this.orders.find(id);
    if (order?.cancelledAt !== null) {
      throw new OrderNotFoundError(id);
    }
    return order;
  }
}
